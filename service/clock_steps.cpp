#include "service/clock_steps.hpp"

#include <utility>

namespace nightjar::service {
namespace {

constexpr std::chrono::seconds kCorrection{10};

}  // namespace

std::optional<std::chrono::microseconds> ClockSteps::observe(
    Time wall, std::chrono::steady_clock::time_point steady) {
  const auto before = std::exchange(before_, Both{wall, steady});
  if (!before) return std::nullopt;
  const auto passed =
      std::chrono::duration_cast<std::chrono::microseconds>(steady - before->steady);
  const auto step = (wall - before->wall) - passed;
  if (std::chrono::abs(step) <= kCorrection) return std::nullopt;
  return step;
}

}  // namespace nightjar::service
