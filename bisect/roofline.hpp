// What limits an operator, by the roofline model. Used by the profile's table and by reports.
#pragma once

#include <optional>
#include <string>

#include "storage/model/enum.hpp"
#include "storage/model/profile.hpp"

namespace nightjar::bisect {

// Memory limits an operator whose arithmetic intensity is below the machine's operations a byte,
// math one above (NVIDIA, GPU Performance Background, 2023). The next two come near neither
// ceiling, which NVIDIA calls latency: `launch` has many short calls, which cost more than their
// work. `inefficient` has long ones, so its kernels themselves are slow.
NIGHTJAR_ENUM(Limiter, memory, math, launch, inefficient, unknown);

// The work of all calls in an iteration.
struct Work {
  double flops = 0, bytes = 0, seconds = 0;
  bool flops_known = true;
  std::string dtype;  // a type without a ceiling of its own uses fp32's
  double calls = 1;
};

// The fewest seconds in which this machine can do this work.
double least_seconds(const Work& work, const Ceilings& ceilings);

// The FLOP a byte at which an operator reaches both ceilings.
double ridge(const Ceilings& ceilings, const std::string& dtype);

// Launch or inefficient when the time is over far_from_ceilings times the least. If some
// floating-point operations are not known, the answer is math or unknown: those operations could
// change the others. nullopt if it moves no bytes, since then it does no work that has a ceiling.
//
// A call is short if it takes up to ten times what starting it costs: 1 to 2 µs of PyTorch's
// dispatcher and allocator on a CPU, and about as much of a GPU's time for a kernel.
inline constexpr double far_from_ceilings = 4, short_call_seconds = 20e-6;
std::optional<Limiter> limiter_of(const Work& work, const Ceilings& ceilings);

}  // namespace nightjar::bisect
