// `nightjar-runner profile`: where the time and memory of workloads go, here and now. Never part of
// measuring: watching costs time.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/catalog/catalog.hpp"
#include "runner/process/process.hpp"
#include "runner/run/local_build.hpp"
#include "runner/run/protocol.hpp"
#include "storage/model/profile.hpp"

namespace nightjar::runner {

inline constexpr const char* kProfileProgram = "run_profile.py";
inline constexpr const char* kNoProfilerInside =
    "a command of its own can be measured, not profiled";

struct ProfileConfig {
  LocalPaths paths;
  int runs = 5;
  RunLimits limits;        // min_iterations are profiled in each run
  bool remeasure = false;  // the machine's ceilings, although they are known
};

// One profile a workload, whatever goes wrong being its status and reason; from a request to stop
// on, that it was left out. Throws std::runtime_error if torch cannot be imported, Stopped before
// the first run.
std::vector<Profile> profile(const ProfileConfig& config,
                             const std::vector<CatalogEntry>& workloads, std::stop_token stop,
                             const std::function<void(const std::string&)>& progress);

// Adds what a process of run_profile.py said to `profile`; its status and reason where it failed.
// `fastest_probe` becomes that of this process, seconds. Pure.
void add_run(Profile& profile, const ProcessResult& process, const ExpectedTorch& expected,
             double& fastest_probe);

}  // namespace nightjar::runner
