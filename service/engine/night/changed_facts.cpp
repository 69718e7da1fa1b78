#include "service/engine/night/changed_facts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "service/builds/artifacts.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/model/variants.hpp"
#include "storage/nights.hpp"
#include "storage/runners.hpp"

namespace nightjar::service {
namespace {

// Several nights are read, since a class may have runners with different facts, and not each of
// them measures every night.
constexpr int fact_nights = 7;

using Facts = std::map<std::string, std::string>;

// Returns the facts of all sessions in the last nights before `night`.
std::vector<Facts> known_facts(const EngineView& view, MachineId machine, NightId night) {
  std::set<FactsId> known;
  for (int nights = 0; nights < fact_nights; ++nights) {
    const auto before = storage::last_night_on(view.db, machine, night);
    if (!before) break;
    known.merge(storage::facts_of_sessions(view.db, before->id, machine));
    night = before->id;
  }
  std::vector<Facts> all;
  for (const FactsId id : known)
    if (auto facts = storage::find_facts(view.db, id)) all.push_back(std::move(facts->facts));
  return all;
}

// Whether sessions have read this fact, and each time with another value.
bool is_new_value(const std::pair<const std::string, std::string>& fact,
                  const std::vector<Facts>& known) {
  bool was_read = false;
  for (const Facts& one : known) {
    const auto found = one.find(fact.first);
    if (found != one.end() && found->second == fact.second) return false;
    was_read |= found != one.end();
  }
  return was_read;
}

// Whether no session was on a machine with these facts. Facts that no session read are ignored.
bool is_new(const EngineView& view, FactsId id, const std::vector<Facts>& known) {
  const auto now = storage::find_facts(view.db, id);
  if (!now) return false;
  return std::any_of(now->facts.begin(), now->facts.end(),
                     [&](const auto& fact) { return is_new_value(fact, known); }) ||
         std::all_of(known.begin(), known.end(),
                     [&](const Facts& one) { return !facts_changed(one, now->facts).empty(); });
}

// Whether a live runner of the class that may measure `build` tonight has others.
bool has_new_facts(const EngineView& view, MachineId machine, const Build& build,
                   const std::vector<Facts>& known) {
  const auto live = live_runners(view, machine);
  return std::any_of(live.begin(), live.end(), [&](const Runner& runner) {
    return runner.facts.value != 0 && is_new(view, runner.facts, known) &&
           measures(runner, build.variant, view.config.source.variant) &&
           can_run_any(runner, view.config.night.workloads);
  });
}

}  // namespace

std::optional<Build> load_build_to_repeat(const EngineView& view, const Night& night,
                                          MachineId machine) {
  const auto before = storage::last_night_on(view.db, machine, night.id);
  if (!before || !before->build || before->build == night.build) return std::nullopt;
  const auto known = known_facts(view, machine, night.id);
  auto build = storage::find_build(view.db, *before->build);
  if (!build || known.empty() || !has_new_facts(view, machine, *build, known)) return std::nullopt;
  const bool is_here = build->sha256 && view.artifacts.holds(*build->sha256);
  return is_here ? std::move(build) : std::nullopt;
}

void measure_again(JobSpec& spec, const EnvironmentSpec& last) {
  spec.environments.push_back(last);
  std::vector<PlannedRun> order;
  bool last_first = false;
  for (const PlannedRun& planned : spec.order) {
    if (planned.is_control()) {
      order.push_back(planned);
      continue;
    }
    PlannedRun again = planned;
    again.environment = 1;
    order.push_back(last_first ? again : planned);
    order.push_back(last_first ? planned : again);
    last_first = !last_first;
  }
  spec.order = std::move(order);
}

}  // namespace nightjar::service
