// Where the runs of `measure` are made, and what is learnt from run to run.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "runner/machine/state.hpp"
#include "runner/run/batch_sweep.hpp"
#include "runner/run/local_build.hpp"
#include "runner/run/measure.hpp"
#include "runner/run/process_executor.hpp"

namespace nightjar::runner {

class Workbench {
 public:
  // Makes the build ready, with native workloads if `native`, and throws what local_build throws.
  // Keeps a reference to `config`.
  Workbench(const MeasureConfig& config, bool native, std::stop_token stop,
            const std::function<void(const std::string&)>& progress);

  // One run more of `measured`, or its status and reason.
  void run_once(MeasuredWorkload& measured, const RunLimits& limits);
  // One run at a batch size, kept from taking all of the machine's memory.
  BatchPoint try_batch(const CatalogEntry& entry, int batch);
  // As Python's import said, else as the first run did.
  const ReadyTorch& torch() const { return build_.torch; }
  MachineState machine() { return machine_.read(); }

 private:
  ParsedRun run_unthrottled(const Workload& workload, const RunLimits& limits);

  const MeasureConfig& config_;
  std::stop_token stop_;
  LocalBuild build_;
  ExpectedTorch expected_;
  UsualProbes probes_;
  MachineProbe machine_;
};

}  // namespace nightjar::runner
