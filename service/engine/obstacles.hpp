// What a person must mend now: all that stops nights, and reports that the tracker refused. Told by
// /readyz, /metrics, the overview page and the log.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/config.hpp"
#include "service/engine/context.hpp"
#include "storage/model/build.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/outbox.hpp"

namespace nightjar::service {

// Grouped: the service itself, its inputs, its dependencies, its reports.
NIGHTJAR_ENUM(ObstacleKind, database, disk, engine, source, repository, build, runner, schedule,
              report);

struct Obstacle {
  ObstacleKind kind;
  std::string reason;  // what is wrong and what to do
  bool operator==(const Obstacle&) const = default;
};

// What the rows do not say; empty: nothing is wrong.
struct Surroundings {
  bool surveyed = false;  // the source was read since the start, so what is missing is missing
  std::string database, disk;
  std::map<std::string, std::string> failing;  // steps of the engine
  std::string source, repository;              // of the last look
  std::string history;                         // the copy of the repository was lost
};

// What the rows say of one source's variant.
struct SourceFacts {
  bool has_proved = false;
  std::optional<Build> newest;     // nightly, in whatever state
  std::optional<Time> last_found;  // when the newest build was first listed
  std::string measured;            // the version that the last night measured
  // What its first run said if the build could not be imported in any run, or if no run could be
  // carried out on the machine that it was for.
  std::string import_error, unavailable;
};

// What the rows say.
struct NightFacts {
  std::vector<SourceFacts> sources;  // in the order of sources_of(config)
  Time now{};
  int runners = 0, live = 0;
  int able = 0;  // live, and can run a workload that the configuration selects
  std::vector<OutboxMessage> refused{};  // of the last two weeks, the newest first
};

NightFacts night_facts(const EngineView& view);
// In the order of the kinds; `facts` is nullopt while rows cannot be read. A pure function.
std::vector<Obstacle> find_obstacles(const Surroundings& around,
                                     const std::optional<NightFacts>& facts, const Config& config);

}  // namespace nightjar::service
