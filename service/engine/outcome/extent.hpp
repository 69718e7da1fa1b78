// Where else a finding was looked for: every other series of its metric that the same night
// measured. Used for its report.
#pragma once

#include <optional>
#include <vector>

#include "service/engine/context.hpp"
#include "service/engine/verdict/observation.hpp"
#include "service/report/report.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// What the night's first measurement said of each series, on all machine classes. Empty for what an
// import found.
struct ExtentFacts {
  std::string metric;  // of the lead
  std::vector<Observation> observed;
  std::vector<Regression> regressions;  // of the night
};
ExtentFacts load_extent(const EngineView& view, const Regression& regression);
// Leaves out the finding's own series, and those that another finding of the night explains. Pure.
ReportExtent decide(const ExtentFacts& facts, const Regression& regression);

}  // namespace nightjar::service
