// A session on this machine with the PyTorch at hand, which no service asked for. `measure` and
// `profile` make the same job as a service would and run it by run_session; `prepare-native` needs
// no more than the build.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/run/process_executor.hpp"

namespace nightjar::runner {

struct LocalPaths {
  std::filesystem::path python;
  std::filesystem::path libtorch;  // for native workloads in place of that Python's; empty: none
  std::filesystem::path workloads, cache, torchbench;
};

// Imports torch, unless a LibTorch takes its place; compiles the native workloads if `native`.
// Throws std::runtime_error if torch cannot be imported, WrongUse if there is no LibTorch, Stopped.
ReadyBuild local_build(const LocalPaths& paths, bool native, std::stop_token stop,
                       const std::function<void(const std::string&)>& progress);

// Runs workloads on that build. The caller holds the machine's lock. See ProcessExecutorConfig for
// `throttled_repeats`.
ProcessExecutor local_executor(const ReadyBuild& build, int throttled_repeats);

// `order` holds indices into `workloads`.
JobSpec local_job(JobKind kind, const std::vector<CatalogEntry>& workloads,
                  const std::vector<std::size_t>& order, const RunLimits& limits);

}  // namespace nightjar::runner
