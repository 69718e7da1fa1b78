// A machine whose kernel, driver or libc was updated is still of its class, and may be faster or
// slower. The last night's build is then measured again beside the new one: what it gives now tells
// whether the levels still hold. Used by the steps of a night.
#pragma once

#include <optional>
#include <string>

#include "service/engine/context.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/night.hpp"

namespace nightjar::service {

// What changed on a machine class: facts of a live runner that no session of the last seven nights
// there had.
struct ChangedFacts {
  std::optional<Build> last;  // of that night; nullopt: its wheel is not here, or it is tonight's
  std::string what;           // "kernel 6.1.0 → 6.8.0"
};
// By the live runners' facts. nullopt: nothing changed, or the class has no night before.
std::optional<ChangedFacts> load_changed_facts(const EngineView& view, const Night& night,
                                               MachineId machine);

// Adds `last` to a screening as its second build: each workload runs both, in turns. Pure.
void measure_again(JobSpec& spec, const EnvironmentSpec& last);

}  // namespace nightjar::service
