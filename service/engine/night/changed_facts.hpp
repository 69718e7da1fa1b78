// A machine whose kernel, driver, libc or microcode was updated is still of its class, and may be
// faster or slower. The last night's build is then measured again beside the new one: what it gives
// now tells whether the levels still hold. Used by the steps of a night.
#pragma once

#include <optional>

#include "service/engine/context.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/night.hpp"

namespace nightjar::service {

// The build of the last night of tonight's variant, if a live runner of the class that measures it
// has facts that no session of the last seven such nights there had. A fact that none of these
// sessions read is not counted. nullopt also if its wheel is not here, or if it is tonight's.
std::optional<Build> load_build_to_repeat(const EngineView& view, const Night& night,
                                          MachineId machine);

// Adds `last` to a screening as its second build: each workload runs both, in turns. Pure.
void measure_again(JobSpec& spec, const EnvironmentSpec& last);

}  // namespace nightjar::service
