#include "service/engine/outcome/effect.hpp"

#include <algorithm>

#include "service/engine/verdict/levels.hpp"
#include "service/report/quantity.hpp"
#include "storage/regressions.hpp"

namespace nightjar::service {
namespace {

// A person may dismiss what was confirmed before.
bool was_confirmed(const storage::Database& db, const Regression& regression) {
  if (is_real(regression.state)) return true;
  if (regression.state != RegressionState::dismissed) return false;
  const auto changes = storage::changes_of(db, regression.id);
  return std::any_of(changes.begin(), changes.end(), [](const RegressionChange& change) {
    return change.state == RegressionState::confirmed;
  });
}

}  // namespace

Effect effect_of(const storage::Database& db, const Regression& regression, const Series& lead) {
  const AffectedSeries& shown = regression.series.front();
  const auto& step = regression.culprit ? regression.culprit : regression.range;
  if (step && step->ratio > 0 && !has_no_ratio(lead.metric)) {
    const StepSize size = size_of_step(lead.metric, {step->ratio, step->low, step->high});
    return {EffectSource::search, size.ratio, size.low, size.high};
  }
  auto source = EffectSource::screening;
  if (regression.found_by == FoundBy::history)
    source = EffectSource::history;
  else if (was_confirmed(db, regression))
    source = EffectSource::confirmation;
  return {source, shown.ratio, shown.low, shown.high};
}

}  // namespace nightjar::service
