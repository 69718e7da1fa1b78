// What a workload's runs must give. A run that gives something else counts as a failure, like one
// that crashes. Used wherever sessions are planned.
#pragma once

#include <optional>

#include "service/engine/context.hpp"
#include "storage/model/series.hpp"
#include "storage/model/workload.hpp"

namespace nightjar::service {

// The result on this machine class of the last build of this variant before `night` that passed,
// since the last shift that was marked. nullopt: no such build is known, its runs gave no checksum,
// or they differed among themselves by over a quarter of the tolerance.
std::optional<ExpectedResult> expected_result(const EngineView& view, const WorkloadName& name,
                                              int version, MachineId machine,
                                              const std::string& variant, NightId night);

// The workload of `series`, with what its runs must give in `night`.
Workload expecting(const EngineView& view, const Series& series, NightId night);

}  // namespace nightjar::service
