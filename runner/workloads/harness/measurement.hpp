// Measures one step again and again: warm-up, samples, peak memory, leak slope, checksum. The rules
// are docs/workloads.md's; measurement.py is the same in Python.
#pragma once

#include <functional>

#include "harness/protocol.hpp"

namespace nightjar::workloads {

// `iterate` is one iteration, devices synchronised. `iterate_and_keep` is one too; what it returns
// computes the checksum of its result, later and outside the timed span. `observe`, if any, is
// called after each iteration, outside the timed span too.
struct Steps {
  std::function<void()> iterate;
  std::function<std::function<double()>()> iterate_and_keep;
  std::function<void()> observe = {};
};

constexpr int peak_at = 30;  // iterations after which peak memory is read, unless they are slow

// All of Measurement but `parameters` and `device`. `fastest_probe`: seconds, of earlier
// processes on this machine; 0: not known. `slow`: a slow-down to plant, see the protocol.
Measurement measure(const Steps& steps, int min_iterations, double seconds, double fastest_probe,
                    double slow = 0);

}  // namespace nightjar::workloads
