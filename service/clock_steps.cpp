#include "service/clock_steps.hpp"

#include <algorithm>
#include <utility>

#include "storage/jobs.hpp"
#include "storage/runners.hpp"

namespace nightjar::service {
namespace {

constexpr std::chrono::seconds kCorrection{10};

// No runner can have been seen in the future. By how much at least the clock was set back.
std::chrono::microseconds set_back_while_away(const storage::Database& db, Time now) {
  std::chrono::microseconds step{};
  for (const Runner& runner : storage::all_runners(db)) step = std::min(step, now - runner.seen_at);
  return step;
}

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

std::optional<std::chrono::microseconds> ClockFollower::follow(
    storage::Database& db, Time wall, std::chrono::steady_clock::time_point steady) {
  const auto step = steps_.observe(wall, steady).value_or(std::chrono::microseconds());
  pending_ += looked_back_ ? step : set_back_while_away(db, wall);
  looked_back_ = true;
  if (pending_.count() == 0) return std::nullopt;
  storage::write(db, [&](storage::Transaction& transaction) {
    storage::follow_clock(transaction, {wall, pending_, lease_});
  });
  return std::exchange(pending_, {});
}

}  // namespace nightjar::service
