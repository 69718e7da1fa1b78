// What the machine does while a session measures: recorded with it, so that a disturbed session can be
// told from a changed PyTorch.
#pragma once

#include <cstdint>

#include "storage/model/job.hpp"

namespace nightjar::runner {

// Samples the machine.
class MachineProbe {
 public:
  MachineProbe();
  // Load of the last minute, share of CPU time stolen since the call before (or construction), mean
  // frequency of the CPUs, and in `extra` what is there to read: throttle counts, temperatures, GPU
  // clocks and reasons.
  MachineState read();

 private:
  struct CpuTime {
    std::int64_t total = 0, steal = 0;
  };
  static CpuTime cpu_time();
  CpuTime before_;
};

}  // namespace nightjar::runner
