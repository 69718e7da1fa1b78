// On which other machine classes a finding was looked for, and what its night said there. Decided
// when the night ends, and again with the finding's issue. Pure, but for what loads.
#pragma once

#include <vector>

#include "service/engine/context.hpp"
#include "service/engine/verdict/observation.hpp"
#include "storage/affected_classes.hpp"
#include "storage/model/machine.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// The night's regression of this series; nullptr: none.
const Regression* suspicion_of(const Observation& one, const std::vector<Regression>& night);
// The regression's series, the lead first.
std::vector<Series> series_shown(const EngineView& view, const Regression& regression);
// Machine classes that have a runner, and those that the night's usable sessions are of; by id.
std::vector<MachineClass> classes_to_ask(const EngineView& view, const std::vector<Job>& usable);

// Returns the classes in `asked` without a series in `shown`: each saw nothing, or did not look. A
// class has no row while that is open: a finding there may turn out to be the same one, or a change
// is not measured side by side. `night`: all regressions of the night that made `observed`.
std::vector<AffectedClass> classes_elsewhere(const std::vector<Series>& shown,
                                             const Observations& observed,
                                             const std::vector<Regression>& night,
                                             const std::vector<MachineClass>& asked);

}  // namespace nightjar::service
