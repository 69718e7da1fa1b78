// Which build repaired a regression that recovered, and which commits may have done it.
#pragma once

#include <optional>
#include <vector>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/marks.hpp"
#include "storage/model/build.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// The commits that may have repaired it: those that the search for a fix of this build named, if it
// measured a series of the regression on its machine class and found one cause. Otherwise all
// commits since the last bad build.
struct Repairers {
  std::vector<ReportCommit> commits;  // oldest first; empty: not known
  std::optional<FixId> search;        // that named them
  double probability = 0;             // that it is one of them, as the search says
};
Repairers repairers_of(const EngineView& view, const Regression& regression, BuildId last_bad,
                       const Build& good_again);

struct Repair {
  RegressionId regression;
  BuildId build;  // the first that was good again
  Repairers by;
};

// Taken from the accepted levels of its lead series; nullopt: none was back yet.
std::optional<Repair> repair_of(const EngineView& view, const Regression& regression);

// The regression whose level of before is back with this improvement, for the first time since.
// `findings`: those that show its series. nullopt: it repairs none of them.
std::optional<RegressionId> repaired_by(const EngineView& view,
                                        const storage::Improvement& improvement,
                                        const std::vector<RegressionId>& findings);

}  // namespace nightjar::service
