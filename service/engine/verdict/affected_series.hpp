// Affected series as the rows of an issue or comment. Used by blame and by all that reports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// "machine class 2 (AMD EPYC 7763)"
std::string class_name(const EngineView& view, MachineId id);

// Each names its machine class if these, and the one `beside` them, are of several.
std::vector<ReportSeries> series_facts(const EngineView& view,
                                       const std::vector<AffectedSeries>& affected,
                                       std::optional<MachineId> beside = {});

}  // namespace nightjar::service
