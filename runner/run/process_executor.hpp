// Runs of a session as real processes in real environments.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/build/environments.hpp"
#include "runner/build/native_cache.hpp"
#include "runner/catalog/catalog.hpp"
#include "runner/catalog/external.hpp"
#include "runner/machine/state.hpp"
#include "runner/process/process.hpp"
#include "runner/run/executor.hpp"
#include "runner/run/usual_probes.hpp"

namespace nightjar::runner {

struct ProcessExecutorConfig {
  EnvironmentsConfig environments;
  std::filesystem::path workloads;   // folder with workloads.json and run.py
  std::vector<std::string> control;  // the control workload's command
  std::filesystem::path torchbench;  // a checkout; empty: none
  Externals externals = {};
  std::vector<CatalogEntry> offered = {};  // to the service
  std::filesystem::path machine_lock = machine_lock_path();
};

// How one run is started; also used by `measure`, whose environment is the Python's own.
struct RunPlace {
  std::filesystem::path cache;  // for the run's temporary home
  std::filesystem::path python;
  std::filesystem::path workloads;
  std::filesystem::path site_packages;  // of the build
  std::filesystem::path native;         // program; needed for native workloads only
  std::filesystem::path torchbench;     // checkout; needed for its models only
  const Externals* externals = nullptr;
  std::filesystem::path program = "run.py";  // of the Python suite
  std::filesystem::path libtorch = {};       // libraries of the build, for all but Python
  std::filesystem::path profiled = {};       // library: native workloads run in Python, too
  std::vector<std::filesystem::path> gpu_libraries = {};  // that `libtorch` may need
};

// A process in a home of its own, pinned, with the environment variables that workloads rely on.
// `workload` nullptr: `control` is started. `slow`: see PlannedRun.
ProcessResult run_workload(const RunPlace& place, const std::vector<std::string>& control,
                           const Workload* workload, const RunLimits& limits,
                           const UsualProbes& probes, std::stop_token stop, double slow = 0);

// `expected`, less what an external workload that loads no torch need not prove.
ExpectedTorch expected_of(const Workload& workload, const Externals& externals,
                          const ExpectedTorch& expected);

class ProcessExecutor final : public Executor {
 public:
  explicit ProcessExecutor(ProcessExecutorConfig config);
  std::vector<std::string> workloads() const override;
  std::unique_ptr<MachineLock> lock_machine(const std::string& purpose,
                                            std::stop_token stop) override;
  void begin_session(const JobSpec& spec) override;
  Prepared prepare(const EnvironmentSpec& environment, bool native, std::stop_token stop) override;
  ParsedRun run(const RunTask& task, std::stop_token stop) override;
  MachineState machine() override { return probe_.read(); }

 private:
  ParsedRun profile(const RunTask& task, RunPlace place, const ExpectedTorch& expected,
                    std::stop_token stop);

  const ProcessExecutorConfig config_;
  Environments environments_;
  NativeCache natives_;
  std::optional<std::vector<std::filesystem::path>>
      gpu_libraries_;  // of the base Python, once it was asked
  struct Ready {
    std::filesystem::path site_packages;
    NativeProgram native;
  };
  UsualProbes probes_;
  MachineProbe probe_;
  std::map<std::string, Ready> ready_;  // by EnvironmentSpec::key()
};

}  // namespace nightjar::runner
