// Which PyTorch a process should load, and which one it says that it has loaded.
#pragma once

#include <filesystem>
#include <string>

namespace nightjar::runner {

// The PyTorch that a run must have loaded. Empty fields are not checked.
struct ExpectedTorch {
  std::filesystem::path below;  // torch must have been loaded from here
  std::string version;
  std::string git_version;
};

// What a run said about itself beside its samples.
struct ReadyTorch {
  std::string version, git_version, path;
};

// Returns "" if `torch` is what was expected, else a sentence that says what is wrong.
std::string mismatch(const ReadyTorch& torch, const ExpectedTorch& expected);

}  // namespace nightjar::runner
