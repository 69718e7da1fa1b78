// The size of a regression, the same in all reports and pages: one number, its interval, and what
// measured it.
#pragma once

#include "storage/database.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// screening: one night against its level. confirmation: both builds side by side. search: the step
// at the culprit or range. history: a step of an imported history.
NIGHTJAR_ENUM(EffectSource, screening, confirmation, search, history);

// The effect on the lead series, after / before, in the metric's own direction.
struct Effect {
  EffectSource source = EffectSource::screening;
  double ratio = 1, low = 1, high = 1;
};

// The search's estimate once it named a step, else what the confirmation measured, else what the
// night suspected. Where a ratio is meaningless, as for a leak or for failures, the series'
// numbers stay, and before and after tell the size.
Effect effect_of(const storage::Database& db, const Regression& regression, const Series& lead);

}  // namespace nightjar::service
