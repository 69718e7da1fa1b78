// Reads the trace that PyTorch's profiler writes. Pure; twin of kernel_seconds in kernels.py. Used
// by kernels.cpp.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace nightjar::workloads {

// The name of the range around each iteration.
inline constexpr const char* iteration_mark = "nightjar::iteration";

struct BadTrace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Seconds of all kernels of each iteration. A kernel belongs to the iteration that launched it.
// Copies and fills are no kernels. Throws BadTrace unless each of `iterations` has its range and a
// kernel.
std::vector<double> kernel_seconds(const std::string& text, std::size_t iterations);

}  // namespace nightjar::workloads
