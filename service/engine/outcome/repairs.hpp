// Which build repaired a regression that recovered, and which commits may have done it.
#pragma once

#include <optional>
#include <vector>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/marks.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

struct Repair {
  RegressionId regression;
  BuildId build;                      // the first that was good again
  std::vector<ReportCommit> commits;  // since the last bad build, oldest first; empty: not known
};

// Taken from the accepted levels of its lead series; nullopt: none was back yet.
std::optional<Repair> repair_of(const EngineView& view, const Regression& regression);

// The regression whose level of before is back with this improvement, for the first time since.
// `findings`: those that show its series. nullopt: it repairs none of them.
std::optional<RegressionId> repaired_by(const EngineView& view,
                                        const storage::Improvement& improvement,
                                        const std::vector<RegressionId>& findings);

}  // namespace nightjar::service
