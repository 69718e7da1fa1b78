// The PyTorch at hand, made ready for runs that no service asked for: `measure`, `profile`,
// `prepare-native`.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "runner/build/native_cache.hpp"
#include "runner/run/process_executor.hpp"
#include "runner/run/protocol.hpp"

namespace nightjar::runner {

struct LocalPaths {
  std::filesystem::path python;
  std::filesystem::path libtorch;  // for native workloads in place of that Python's; empty: none
  std::filesystem::path workloads, cache, torchbench;
};

struct LocalBuild {
  ReadyTorch torch;            // as Python's import said; empty where a LibTorch takes its place
  std::filesystem::path root;  // what a workload loads must come from below
  NativeProgram native;
  RunPlace place;
};

// Imports torch, unless a LibTorch takes its place; compiles the native workloads if `native`.
// Throws std::runtime_error if torch cannot be imported, WrongUse if there is no LibTorch, Stopped.
LocalBuild local_build(const LocalPaths& paths, bool native, std::stop_token stop,
                       const std::function<void(const std::string&)>& progress);

}  // namespace nightjar::runner
