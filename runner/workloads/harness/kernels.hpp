// The metric kernel_time: how long a device's kernels run in an iteration, by LibTorch's profiler.
// It gets them from CUPTI. Twin of kernels.py. Used by run.cpp.
#pragma once

#include <functional>

#include "harness/protocol.hpp"

namespace nightjar::workloads {

// Profiles `iterations` of `step`, which waits for its device. They are fewer if they take long:
// `seconds` is the time of a plain one. Sets `kernels` of `found`, or `kernels_missing`.
void time_kernels(const std::function<void()>& step, int iterations, double seconds,
                  OnDevice& found);

}  // namespace nightjar::workloads
