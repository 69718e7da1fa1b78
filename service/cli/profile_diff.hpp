// `nightjar profile-diff`: which operators got slower between two profiles.
#pragma once

#include <filesystem>

namespace nightjar::cli {

struct ProfileDiffOptions {
  std::filesystem::path before, after;  // what `nightjar-runner profile --json` wrote
  bool json = false;
};

// The exit code. Throws BadInput for a file that is no profile, or if no workload is profiled in
// both.
int profile_diff(const ProfileDiffOptions& options);

}  // namespace nightjar::cli
