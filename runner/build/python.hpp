// The base Python of a runner: it starts workloads and holds what PyTorch depends on.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/build/torch_identity.hpp"
#include "runner/process/confinement.hpp"

namespace nightjar::runner {

// Returns the `--python` that was asked for, made absolute; else .cache/python of this checkout;
// else python3.
std::filesystem::path default_python(const std::filesystem::path& asked);

struct ImportCheck {
  std::string broken;           // empty: the module could be imported and is what was expected
  bool machine_failed = false;  // `broken` is of Python or the memory here, not of the module
  ReadyTorch torch;             // or the other module that was expected
  std::string python;           // "3.11.7"
};
// Imports torch, or the other module that is expected, in a process of its own, with
// `site_packages` first on its path; empty: Python's own. `rights` need not name it.
ImportCheck check_import(const std::filesystem::path& python,
                         const std::filesystem::path& site_packages, const ExpectedTorch& expected,
                         BuildRights rights, std::stop_token stop);

// Returns the folders that this Python and its packages lie in, as it says itself; none if it
// cannot be asked.
std::vector<std::filesystem::path> python_folders(const std::filesystem::path& python,
                                                  std::stop_token stop);

// Returns the folders of the libraries that NVIDIA's packages brought to this Python. None if it
// cannot be asked. A build for CUDA finds them through Python only, so programs that load its
// LibTorch must be told. Those of a build's own packages: see libraries_of_packages().
std::vector<std::filesystem::path> gpu_libraries(const std::filesystem::path& python,
                                                 std::stop_token stop);

// Which devices that compute a process can use, asked through what workloads use: CUDA's driver,
// and the node that ROCm's runtime opens.
struct DeviceUse {
  std::map<std::string, std::string> problems;  // by "libcuda.so.1", "/dev/kfd"; empty: it works
  std::vector<std::filesystem::path> folders;   // of the driver's libraries
  bool any() const;
};
// Asks in a process of this Python, which is confined unless `confinement` is nullptr. Nothing is
// said if it cannot be asked.
DeviceUse device_use(const std::filesystem::path& python, const Confinement* confinement,
                     std::stop_token stop);

// Returns the version of each package that this Python has, by the name that indexes use, without
// what only installs packages. None if it cannot be asked.
std::map<std::string, std::string> installed_packages(const std::filesystem::path& python,
                                                      std::stop_token stop);

struct ByteCodeLimits {
  std::int64_t bytes = 2LL << 30;
  double seconds = 300;  // PyTorch takes half a minute on one core
};
// Compiles the .py files below `folder` to byte code, or only `files` if any are given. So no run
// pays for that or differs by it. A file that does not compile fails where it is imported. The
// files are a build's: `rights` need not name the folder. Returns what was too much, if anything
// was: a few lines can be folded to gigabytes, or take minutes.
std::string compile_byte_code(const std::filesystem::path& python,
                              const std::filesystem::path& folder,
                              const std::set<std::string>& files, BuildRights rights,
                              const ByteCodeLimits& limits, std::stop_token stop);

}  // namespace nightjar::runner
