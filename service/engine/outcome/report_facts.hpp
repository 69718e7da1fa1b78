// Collects from the rows all that an issue says.
#pragma once

#include <optional>
#include <vector>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// The rows of an issue or comment. Each names its machine class if these, and the one `beside`
// them, are of several.
std::vector<ReportSeries> series_facts(EngineContext& context,
                                       const std::vector<AffectedSeries>& affected,
                                       std::optional<MachineId> beside = {});

ReportInput report_facts(EngineContext& context, const Regression& regression);

// Commits between the last bad nightly and `good_again`, the first that was good; empty if unknown.
std::vector<ReportCommit> commits_that_may_have_repaired(
    EngineContext& context, const Regression& regression,
    const std::optional<CommitSha>& good_again);

}  // namespace nightjar::service
