#include "bisect/roofline.hpp"

#include <algorithm>

namespace nightjar::bisect {
namespace {

double flops_ceiling(const Ceilings& ceilings, const std::string& dtype) {
  for (const std::string& name : {dtype, std::string("fp32")})
    if (const auto found = ceilings.flops.find(name); found != ceilings.flops.end())
      return found->second;
  return 0;
}

double time_of(double amount, double rate) {
  return rate > 0 ? amount / rate : 0;
}

}  // namespace

double least_seconds(const Work& work, const Ceilings& ceilings) {
  return std::max(time_of(work.flops, flops_ceiling(ceilings, work.dtype)),
                  time_of(work.bytes, ceilings.bytes));
}

double ridge(const Ceilings& ceilings, const std::string& dtype) {
  return time_of(flops_ceiling(ceilings, dtype), ceilings.bytes);
}

std::optional<Limiter> limiter_of(const Work& work, const Ceilings& ceilings) {
  if (work.bytes <= 0) return std::nullopt;
  if (work.seconds > far_from_ceilings * least_seconds(work, ceilings)) {
    if (!work.flops_known) return Limiter::unknown;
    const bool is_short = work.seconds <= short_call_seconds * work.calls;
    return is_short ? Limiter::launch : Limiter::inefficient;
  }
  const bool below = work.flops < ridge(ceilings, work.dtype) * work.bytes;
  if (!below) return Limiter::math;
  return work.flops_known ? Limiter::memory : Limiter::unknown;
}

}  // namespace nightjar::bisect
