// Affected series as the rows of an issue or comment. Used by blame and by all that reports.
#pragma once

#include <optional>
#include <vector>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// Each names its machine class if these, and the one `beside` them, are of several.
std::vector<ReportSeries> series_facts(const EngineView& view,
                                       const std::vector<AffectedSeries>& affected,
                                       std::optional<MachineId> beside = {});

}  // namespace nightjar::service
