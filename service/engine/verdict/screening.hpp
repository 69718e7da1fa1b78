// Stage one of a night's verdicts: every judged series against its accepted level. Used by the
// steps of a night.
#pragma once

#include <string>
#include <vector>

#include "service/engine/verdict/observation.hpp"
#include "storage/marks.hpp"
#include "storage/model/night.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

struct Suspicion {
  Regression regression;
  Evidence evidence;
};

// What stage one says of a night. Storing it again changes nothing.
struct ScreeningVerdicts {
  std::vector<Suspicion> suspicions;
  std::vector<storage::Improvement> improvements;
  std::vector<Level> levels;
  std::vector<storage::Mark> marks;  // of series that the machine moved, by its changed facts
  std::string reason;  // what was held back, and what is unclear; empty: nothing, or hardly any
};

// Accepts levels, records improvements, and suspects regressions. Where most series of a metric
// moved together on a machine class, only the clearest are suspected. The others are held back:
// see release_held(). Pure.
ScreeningVerdicts screen(const Night& night, const Observations& observed, Time now);
void store(storage::Transaction& transaction, const ScreeningVerdicts& verdicts);

// Levels that start over, with the marks that say so.
struct Released {
  std::vector<storage::Mark> marks;
  std::vector<Level> levels;
};

// After stage two: series that were held back moved with the machine if none of their group's
// suspects was confirmed. Otherwise they keep their old level, and the next night screens them
// again. `regressions`: the night's. Pure.
Released release_held(const Night& night, const Observations& observed,
                      const std::vector<Regression>& regressions, Time now);
void store(storage::Transaction& transaction, const Released& released);

}  // namespace nightjar::service
