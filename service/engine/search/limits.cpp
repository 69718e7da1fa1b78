#include "service/engine/search/limits.hpp"

#include "service/engine/verdict/levels.hpp"
#include "storage/widening.hpp"

namespace nightjar::service {

SearchLimits limits_of(const EngineView& view, const Bisection& search, const Series& series) {
  const Config& config = view.config;
  SearchLimits limits;
  limits.threshold = search_threshold(view, series);
  limits.max_runs = config.search.max_runs;
  limits.minutes = config.search_minutes;
  const auto history = storage::widening_history(view.db, search.id);
  if (history.empty()) return limits;
  const storage::Widening& last = history.back();
  limits.own_threshold = last.threshold;
  limits.threshold = last.threshold.value_or(limits.threshold);
  limits.max_runs = last.max_runs;
  limits.minutes = std::chrono::minutes(last.max_minutes);
  limits.widened_at = last.at;
  return limits;
}

}  // namespace nightjar::service
