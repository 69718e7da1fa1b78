// Whether a regression in memory is a leak, for its issue.
#pragma once

#include <optional>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// What the bad build leaks more than the good one, from the runs that confirmed the regression.
// nullopt: its lead is no memory, its slope was not measured, or it grows by no more than noise.
std::optional<ReportLeak> leak_facts(const EngineView& view, const Regression& regression);

}  // namespace nightjar::service
