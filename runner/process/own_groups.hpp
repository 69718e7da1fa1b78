// The control groups that count this process's memory. Used to know how much there is, and to make
// groups for builds.
#pragma once

#include <filesystem>
#include <vector>

namespace nightjar::runner {

struct OwnGroup {
  std::filesystem::path folder;
  bool unified = true;  // cgroup v2
};

// Returns those that exist and count memory, from this process's own to the outermost.
std::vector<OwnGroup> own_groups();

}  // namespace nightjar::runner
