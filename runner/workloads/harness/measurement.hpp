// Measures one step repeatedly: warm-up, samples, peak memory, leak slope, checksum.
// docs/workloads.md has the rules.
#pragma once

#include <functional>

#include "harness/protocol.hpp"

namespace nightjar::workloads {

// `iterate` is one iteration, with devices synchronised. So is `iterate_and_keep`, whose return
// value computes the checksum of its result later, outside the timed span. `observe`, if any, is
// called after each iteration, also outside the timed span.
struct Steps {
  std::function<void()> iterate;
  std::function<std::function<double()>()> iterate_and_keep;
  std::function<void()> observe = {};
};

constexpr int peak_at = 30;  // iterations after which peak memory is read, unless they are slow

// Fills all of Measurement but `parameters` and `device`. `fastest_probe` is that of earlier
// processes on this machine, in seconds; 0: not known. `slow`: a slow-down to plant, see the
// protocol.
Measurement measure(const Steps& steps, int min_iterations, double seconds, double fastest_probe,
                    double slow = 0);

}  // namespace nightjar::workloads
