// Which PyTorch, or which other module that is watched, a process should load, and which one it
// says that it has loaded.
#pragma once

#include <filesystem>
#include <string>

namespace nightjar::runner {

// The module that a run must have loaded. Empty fields are not checked.
struct ExpectedTorch {
  std::filesystem::path below;  // the module must have been loaded from here
  std::string version;
  std::string git_version;
  std::string module = "torch";

  bool is_torch() const { return module == "torch"; }
};

// What a run said about its PyTorch beside its samples, or about the other module that is watched.
struct ReadyTorch {
  std::string version, git_version, path;
};

// Returns "" if `loaded` is what was expected, else a sentence that says what is wrong.
std::string mismatch(const ReadyTorch& loaded, const ExpectedTorch& expected);

}  // namespace nightjar::runner
