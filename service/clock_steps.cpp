#include "service/clock_steps.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "storage/jobs.hpp"
#include "storage/runners.hpp"

namespace nightjar::service {
namespace {

constexpr std::chrono::seconds correction{10};

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
  if (std::chrono::abs(step) <= correction) return std::nullopt;
  return step;
}

std::optional<std::chrono::microseconds> ClockFollower::follow(
    storage::Database& db, Time wall, std::chrono::steady_clock::time_point steady) {
  const auto seen = steps_.observe(wall, steady).value_or(std::chrono::microseconds());
  const auto step = looked_back_ ? seen : set_back_while_away(db, wall);
  looked_back_ = true;
  if (step.count() != 0) pending_.push_back(step);
  if (pending_.empty()) return std::nullopt;
  storage::write(db, [&](storage::Transaction& transaction) {
    for (const auto one : pending_) storage::follow_clock(transaction, {wall, one, lease_});
  });
  const auto steps = std::exchange(pending_, {});
  return std::accumulate(steps.begin(), steps.end(), std::chrono::microseconds());
}

}  // namespace nightjar::service
