// What the machine does while a session measures: recorded with it, so that a disturbed session can
// be told from a changed PyTorch.
#pragma once

#include <cstdint>

#include "runner/machine/gpu_probe.hpp"
#include "storage/model/job.hpp"

namespace nightjar::runner {

// Samples the machine.
class MachineProbe {
 public:
  MachineProbe();
  // Load of the last minute, share of CPU time stolen since the call before (or construction), mean
  // frequency of the CPUs, the GPUs (see GpuProbe::read), and in `extra` what is there to read:
  // throttle counts, temperatures. Not to be called during a run.
  MachineState read();
  // The probe, for a GpuWatch during a run, and to find out why there is no GPU.
  GpuProbe& gpus() { return gpus_; }

 private:
  struct CpuTime {
    std::int64_t total = 0, steal = 0;
  };
  static CpuTime cpu_time();
  CpuTime before_;
  GpuProbe gpus_;
};

}  // namespace nightjar::runner
