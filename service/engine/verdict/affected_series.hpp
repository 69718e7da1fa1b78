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

// Describes the series for a report. Each names its machine class if they and `beside` are of more
// than one.
std::vector<ReportSeries> series_facts(const EngineView& view,
                                       const std::vector<AffectedSeries>& affected,
                                       std::optional<MachineId> beside = {});

}  // namespace nightjar::service
