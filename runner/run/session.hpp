// The one loop over runs: carries out a job from its first environment to its last run. Used by the
// agent for a service's jobs, and by `measure` and `profile` for local ones.
#pragma once

#include <functional>
#include <stop_token>

#include "runner/run/executor.hpp"
#include "storage/model/job.hpp"
#include "storage/model/time.hpp"

namespace nightjar::runner {

// Returns "" if the session can be run as it is, else what is wrong with it: an index out of its
// list, no run, a thread count below one.
std::string problem_of(const JobSpec& spec);

// What the caller of a session has a say in; all of it may be left out.
struct SessionHooks {
  // Asked right before each run. False leaves this run out.
  std::function<bool(const PlannedRun&)> wanted = {};
  // Told after each run, with more of it than a session keeps.
  std::function<void(const PlannedRun&, const ParsedRun&)> done = {};
  // True: a stop after the environments are made ends the session with the runs it has.
  bool keep_when_stopped = false;
};

// Runs a session with the machine to itself: environments first, then every run in order. Throws
// TransientFailure (the job may be tried again) and Stopped; runs that go wrong are results.
SessionResult run_session(JobId job, const JobSpec& spec, Executor& executor, const Clock& clock,
                          std::stop_token stop, const SessionHooks& hooks = {});

}  // namespace nightjar::runner
