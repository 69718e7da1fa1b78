// How nights begin: at their hour, or with a new build. Used by the engine's tick.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/build.hpp"
#include "storage/model/night.hpp"

namespace nightjar::service {

struct ScheduleFacts {
  Time now{};
  std::string last_date;  // for which a night was started, "2026-08-20"
  bool piles_up = false;  // no runner is alive, and a night waits for one already
};
ScheduleFacts load_schedule(const EngineView& view);

struct NotDue {};
// The date is over without a night: one that waits for a runner is enough.
struct SkipDate {
  std::string date;
};
struct StartNight {
  std::string date;
  int nights = 1;  // one for each source
};
using ScheduleStep = std::variant<NotDue, SkipDate, StartNight>;
ScheduleStep decide(const ScheduleFacts& facts, const Config& config);
// Starts a night at its hour (UTC), once a date.
bool start_scheduled_night(EngineContext& context);

struct AssignmentFacts {
  Time now{};
  std::optional<Build> newest;    // proved
  bool is_new = false;            // no night measured it yet
  std::optional<Build> unusable;  // a nightly that is newer than it
  std::vector<Night> waiting;     // oldest first
  bool piles_up = false;
};
AssignmentFacts load_assignment(const EngineView& view, const std::string& variant);

struct Assignment {
  std::vector<Night> given;   // a build each
  std::vector<Night> ended;   // with the reason
  std::vector<Night> told;    // still waiting, with the reason
  std::optional<Night> made;  // for a build that no night waited for
};
Assignment decide(const AssignmentFacts& facts, const Config& config);
// Gives proved builds of each variant to waiting nights, or a night of their own; `surveyed`: the
// builds' sources were read since the daemon started.
bool assign_builds(EngineContext& context, bool surveyed);

}  // namespace nightjar::service
