// Where else a finding was looked for: every other series of its metric that the same night
// measured. Used for its report.
#pragma once

#include <string>
#include <vector>

#include "service/engine/context.hpp"
#include "service/engine/verdict/affected_classes.hpp"
#include "service/engine/verdict/observation.hpp"
#include "service/report/report.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// What the night's first measurement said of each series, on all machine classes. Empty for what an
// import found.
struct ExtentFacts {
  std::string metric;                   // of the lead
  Observations observed;                // of this metric
  std::vector<Regression> regressions;  // of the night
  std::vector<Series> shown;            // of the finding
  std::vector<MachineClass> classes;    // that could have seen it
};
ExtentFacts load_extent(const EngineView& view, const Regression& regression);
// Leaves out the finding's own series, and those that another finding of the night explains. Pure.
ReportExtent decide(const ExtentFacts& facts, const Regression& regression);
// On which other machine classes, as far as that is known. Pure.
std::vector<AffectedClass> classes_elsewhere(const ExtentFacts& facts);

}  // namespace nightjar::service
