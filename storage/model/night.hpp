// One measuring of one new build, from planning to verdicts.
#pragma once

#include <optional>
#include <string>

#include "storage/model/enum.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// imported: it was measured elsewhere and is stored as a night that is done.
NIGHTJAR_ENUM(NightTrigger, schedule, webhook, api, build, imported);
// waiting: for a new proved build to appear. measuring: screen jobs run. judging: suspects are
// being confirmed. done: its verdicts are in (bisections may still run). cancelled: by a person;
// nothing that it measured counts.
NIGHTJAR_ENUM(NightState, waiting, measuring, judging, done, cancelled);

struct Night {
  NightId id;
  NightTrigger trigger = NightTrigger::schedule;
  NightState state = NightState::waiting;
  std::optional<BuildId> build;  // what is measured
  std::string reason;            // e.g. "no new build appeared"
  Time started_at{};
  std::optional<Time> finished_at;
  std::string cancelled_by = {};  // "token:<name>"; empty unless cancelled
};

}  // namespace nightjar
