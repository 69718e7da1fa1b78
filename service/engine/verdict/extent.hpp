// Where else a finding was looked for: every other series of its metric that the same night
// measured. Used for its report, and where it joins another one.
#pragma once

#include <optional>
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
// Returns the extent on one machine class, or on all. Leaves out the finding's own series, and
// series that another finding of the night explains. Pure.
ReportExtent decide(const ExtentFacts& facts, const Regression& regression,
                    std::optional<MachineId> machine = {});
// Returns the other machine classes that show it or not, as far as that is known. Pure.
std::vector<AffectedClass> classes_elsewhere(const ExtentFacts& facts);

// What got worse with each of `joining` on its machine class, and no finding names. Where most
// series of a metric moved together, only the clearest are confirmed. Each night, class and metric
// comes once, and none of which a finding is in `told`; nor what the issue of `known` says of its
// night.
std::vector<ReportBeside> worse_beside(const EngineView& view, const Regression& known,
                                       const std::vector<Regression>& told,
                                       const std::vector<Regression>& joining);

}  // namespace nightjar::service
