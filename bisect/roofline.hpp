// What holds an operator back, by the roofline model: used by the profile's table and by reports.
#pragma once

#include <string>

#include "storage/model/enum.hpp"
#include "storage/model/profile.hpp"

namespace nightjar::bisect {

// NVIDIA's terms (GPU Performance Background, 2023): an operator whose arithmetic intensity is
// below what the machine has of operations a byte is held back by memory, one above by math; one
// that comes near neither ceiling by latency: the price of a call, or too little work to fill the
// machine.
NIGHTJAR_ENUM(Limiter, memory, math, latency, unknown);

// Of all calls in an iteration.
struct Work {
  double flops = 0, bytes = 0, seconds = 0;
  bool flops_known = true;
  std::string dtype;  // a type without a ceiling of its own is held against fp32's
};

// Seconds that this much work takes at the least.
double least_seconds(const Work& work, const Ceilings& ceilings);

// FLOP a byte at which both ceilings are reached together.
double ridge(const Ceilings& ceilings, const std::string& dtype);

// Latency when the time is over kFar times the least. Where floating-point operations are not all
// known, only memory and latency can be told: unknown if the bytes do not explain the time.
inline constexpr double kFar = 4;
Limiter limiter_of(const Work& work, const Ceilings& ceilings);

}  // namespace nightjar::bisect
