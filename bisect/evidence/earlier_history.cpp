#include "bisect/evidence/earlier_history.hpp"

#include <cmath>
#include <span>
#include <stdexcept>

#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::evidence {
namespace {

constexpr double least_z = 3;
constexpr std::size_t widest_window = 64;  // 32 positions, and what the other side left

using Medians = std::span<const double>;

bool is_location(Medians level, double said) {
  return std::abs(bisect::hodges_lehmann(level) - said) <= 1e-9 * std::abs(said);
}

// The part of `before` that ends with it and has this location.
Medians level_before(Medians before, double said) {
  for (std::size_t size = before.size(); size >= bisect::shortest_level; --size)
    if (is_location(before.last(size), said)) return before.last(size);
  throw std::logic_error("no stretch before the step has the level that the verdict names");
}

Medians level_after(Medians after, double said) {
  for (std::size_t size = after.size(); size >= bisect::shortest_level; --size)
    if (is_location(after.first(size), said)) return after.first(size);
  throw std::logic_error("no stretch after the step has the level that the verdict names");
}

}  // namespace

bisect::Change earlier_history_step(const nlohmann::json& said, const HistoryMedians& history,
                                    const bisect::DetectionPolicy& policy) {
  const auto at = field<std::size_t>(said, "position");
  const Medians all(history.medians);
  if (at > all.size()) throw std::logic_error("the step lies behind the end of its history");
  const Medians before = level_before(all.first(at), said.at("before").get<double>());
  const Medians after = level_after(all.subspan(at), said.at("after").get<double>());
  bisect::Change change;
  change.position = change.until = static_cast<long long>(at);
  change.before = bisect::hodges_lehmann(before);
  change.after = bisect::hodges_lehmann(after);
  change.ratio = bisect::shift(before, after, policy.confidence);
  change.worse = (change.ratio.ratio > 1) == (policy.direction == Direction::lower_is_better);
  bool told = false;
  for (std::size_t size = bisect::shortest_level; size <= widest_window && !told; ++size)
    told = std::abs(bisect::mann_whitney_z(before.last(std::min(size, before.size())),
                                           after.first(std::min(size, after.size())))) > least_z;
  if (!told) throw std::logic_error("the two levels at the step cannot be told apart");
  return change;
}

}  // namespace nightjar::evidence
