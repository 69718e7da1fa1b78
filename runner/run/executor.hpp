// Port: who carries out the runs of a session. ProcessExecutor starts real processes in real
// environments. ScriptedExecutor makes results up, so that the whole system can be tested.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/machine/fingerprint.hpp"
#include "runner/machine/lock.hpp"
#include "runner/run/protocol.hpp"
#include "storage/model/job.hpp"

namespace nightjar::runner {

struct Prepared {
  std::string broken;  // not empty: nothing can run in it, so that its runs are not tried
  double seconds = 0;
  RunStatus status = RunStatus::broken_environment;  // of its runs then
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Returns "<name>@<version>" of all that can run here.
  virtual std::vector<std::string> workloads() const = 0;
  // Returns what kind of machine the runs are on; see machine_facts().
  virtual std::map<std::string, std::string> facts() const { return machine_facts(); }
  // Is held from a session's first environment to its last run, so that nothing else of ours
  // compiles or measures on this machine meanwhile. nullptr if nothing is measured or the caller
  // holds it. Throws Stopped.
  virtual std::unique_ptr<MachineLock> lock_machine(const std::string& purpose,
                                                    std::stop_token stop) = 0;
  // Is called before the first prepare() of a session, with all that it will need.
  virtual void begin_session(const JobSpec& spec) = 0;
  // All environments are prepared before the first run, so that nothing but runs is going on while
  // something is measured. `native`: native workloads will run in it. Throws TransientFailure and
  // Stopped.
  virtual Prepared prepare(const EnvironmentSpec& environment, bool native,
                           std::stop_token stop) = 0;
  // Throws Stopped; everything else that can go wrong is a status of the result.
  virtual ParsedRun run(const RunTask& task, std::stop_token stop) = 0;
  // Returns the state of the machine that the runs are on. Its steal_share is counted from the last
  // call.
  virtual MachineState machine() = 0;
};

}  // namespace nightjar::runner
