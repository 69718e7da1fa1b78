// Runs of a session as real processes: each is started, watched and understood here and nowhere
// else, for a service's jobs as for `measure` and `profile`.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/machine/state.hpp"
#include "runner/run/builds.hpp"
#include "runner/run/executor.hpp"
#include "runner/run/usual_probes.hpp"

namespace nightjar::runner {

inline constexpr const char* no_profiler_inside =
    "a command of its own can be measured, not profiled";

struct ProcessExecutorConfig {
  RunPlace place;                                            // of control runs
  std::vector<std::string> control;                          // the control workload's command
  std::vector<CatalogEntry> offered = {};                    // to the service
  std::filesystem::path machine_lock = machine_lock_path();  // empty: the caller holds it
  // How often a run is repeated that the GPU's clocks made void, before it counts as failed. 0:
  // such runs are kept, and the session's state tells.
  int throttled_repeats = 0;
};

class ProcessExecutor final : public Executor {
 public:
  ProcessExecutor(ProcessExecutorConfig config, std::unique_ptr<Builds> builds);
  std::vector<std::string> workloads() const override;
  // Those of the machine, and which size `bmax` stands for in the name of a workload on offer.
  std::map<std::string, std::string> facts() const override;
  std::unique_ptr<MachineLock> lock_machine(const std::string& purpose,
                                            std::stop_token stop) override;
  void begin_session(const JobSpec& spec) override;
  Prepared prepare(const EnvironmentSpec& environment, bool native, std::stop_token stop) override;
  ParsedRun run(const RunTask& task, std::stop_token stop) override;
  MachineState machine() override { return probe_.read(); }

 private:
  struct Attempt {
    ParsedRun run;
    std::string throttled;  // why the GPU's clocks make it void; else empty
  };
  Attempt attempt(const RunTask& task, const RunPlace& place, const ExpectedTorch& expected,
                  std::stop_token stop);
  ParsedRun run_at_best_batch(const RunTask& task, std::stop_token stop);
  void weigh_blocks(ParsedRun& run, RunTask task, const ReadyBuild& build, std::stop_token stop);

  const ProcessExecutorConfig config_;
  const std::unique_ptr<Builds> builds_;
  UsualProbes probes_;
  MachineProbe probe_;
  std::map<std::string, ReadyBuild> ready_;  // by EnvironmentSpec::key()
};

}  // namespace nightjar::runner
