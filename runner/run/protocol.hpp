// What the runner says to a workload's process, and how it reads the answer. Pure: whatever a
// process does, the answer is one RunResult with a status.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "runner/build/torch_identity.hpp"
#include "runner/process/process.hpp"
#include "storage/model/job.hpp"

namespace nightjar::runner {

// One run of a session; environment and workload are nullptr for a control run.
struct RunTask {
  JobId job = {};
  int order = 0;
  const EnvironmentSpec* environment = nullptr;
  const Workload* workload = nullptr;
  const RunLimits* limits = nullptr;
  double slow = 0;       // to be planted, see PlannedRun
  bool profile = false;  // instead of measuring
  bool blocks = false;   // a short run for peak_memory, whose memory blocks are mapped one by one
  bool gpu = false;      // a control run that measures the GPU, too
};

// Returns the request for standard input; without a workload, the control workload's. `limits` are
// those of this run, which may be fewer than the task's. `fastest_probe` is what such a program has
// said so far on this machine, in seconds; 0: nothing yet. `task` has the rest.
std::string request_json(const RunTask& task, const RunLimits& limits, double fastest_probe);

struct ParsedRun {
  RunResult result;  // `order` and `started_at` are the caller's to set
  ReadyTorch torch;
  ReadyTorch module;  // if the build is of another one
  std::map<std::string, std::string> packages, settings;
  double fastest_probe = 0;  // seconds; 0: it said nothing of it
  std::string
      details;  // of a run that was not measured: the end of what the program printed, in lines

  // Sets why it has no value of this metric: in its settings, as "no METRIC". A long reason is cut.
  void lacks(const std::string& metric, const std::string& reason);
};

// Reasons name what was wrong with which line. A crash, time-out or kill outweighs anything said
// before; a process that said "error" is believed; samples without a result are a failed run.
ParsedRun parse_run(const ProcessResult& process, const ExpectedTorch& expected);

// Reads what a process of run_profile.py said: a profile of one run, without the names of workload
// and build. A run without a profile is `unavailable` or `failed`. The reason begins with any other
// kind of failure.
ParsedRun parse_profile(const ProcessResult& process, const ExpectedTorch& expected);

}  // namespace nightjar::runner
