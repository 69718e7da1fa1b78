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

// Fills all of Measurement but `parameters` and `device`.
Measurement measure(const Steps& steps, const Request& request);

}  // namespace nightjar::workloads
