// What limits an operator, by the roofline model. Used by the profile's table and by reports.
#pragma once

#include <string>

#include "storage/model/enum.hpp"
#include "storage/model/profile.hpp"

namespace nightjar::bisect {

// NVIDIA's terms (GPU Performance Background, 2023). Memory limits an operator whose arithmetic
// intensity is below the machine's operations a byte, math one above. Latency limits one that comes
// near neither ceiling: calls cost too much, or there is too little work to fill the machine.
NIGHTJAR_ENUM(Limiter, memory, math, latency, unknown);

// The work of all calls in an iteration.
struct Work {
  double flops = 0, bytes = 0, seconds = 0;
  bool flops_known = true;
  std::string dtype;  // a type without a ceiling of its own uses fp32's
};

// The fewest seconds in which this machine can do this work.
double least_seconds(const Work& work, const Ceilings& ceilings);

// The FLOP a byte at which an operator reaches both ceilings.
double ridge(const Ceilings& ceilings, const std::string& dtype);

// Latency when the time is over far_from_ceilings times the least. If some floating-point
// operations are not known, the answer is math or unknown: those operations could change the other
// two.
inline constexpr double far_from_ceilings = 4;
Limiter limiter_of(const Work& work, const Ceilings& ceilings);

}  // namespace nightjar::bisect
