// Starts one workload as a process: which program, where, and with which environment variables.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/catalog/external.hpp"
#include "runner/process/confinement.hpp"
#include "runner/run/protocol.hpp"

namespace nightjar::runner {

// What the processes of one build are started from. A control run needs no more than the cache.
struct RunPlace {
  std::filesystem::path cache;  // for the run's temporary home
  std::filesystem::path python;
  std::filesystem::path workloads;   // folder with workloads.json and run.py
  std::filesystem::path torchbench;  // a checkout; needed for its models only
  Externals externals = {};
  std::filesystem::path site_packages = {};  // of the build
  std::filesystem::path native = {};         // program; needed for native workloads only
  std::filesystem::path profiled = {};       // its library, by which Python profiles native ones
  std::filesystem::path libtorch = {};       // libraries of the build, for all but Python
  std::vector<std::filesystem::path> gpu_libraries = {};  // that `libtorch` may need
  // What all runs may do; what is of one build is added to it. nullopt: no build runs here.
  std::optional<BuildRights> rights = {};
};

// The session's limits, with the threads that the workload's name asks for, else those of the
// session that this process can keep running.
RunLimits limits_for(const WorkloadName& name, RunLimits session);

// Runs the task's workload in a home of its own, pinned, with the environment variables that
// workloads rely on; `control` if the task has no workload. `fastest_probe`: see request_json.
ProcessResult run_workload(const RunPlace& place, const std::vector<std::string>& control,
                           const RunTask& task, double fastest_probe, std::stop_token stop);

}  // namespace nightjar::runner
