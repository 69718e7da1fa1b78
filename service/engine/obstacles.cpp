#include "service/engine/obstacles.hpp"

#include <algorithm>
#include <map>

#include "service/builds/build_source.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "storage/builds.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/runners.hpp"
#include "storage/runs.hpp"

namespace nightjar::service {
namespace {

constexpr std::chrono::hours refusal_is_told{14 * 24};

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

// Empty: builds can be had.
std::string build_trouble(const SourceFacts& facts, const Config::Source& source) {
  if (!facts.newest) return "no build of variant " + source.variant + " is known yet";
  const Build& newest = *facts.newest;
  // One that is found and has no reason is about to be proved.
  if (newest.state == BuildState::proved || newest.reason.empty()) return "";
  // Until a whole one is listed, whatever was proved before.
  if (newest.state == BuildState::unusable)
    return "the newest wheel, " + newest.version + ", is unusable: " + newest.reason +
           ". No commit is blamed for it; the next night measures the next wheel that can be used";
  std::string why = newest.version + " is not proved: " + newest.reason;
  if (newest.state == BuildState::found) return why;
  return facts.has_proved ? "" : "no build can be measured; the newest, " + why;
}

// An index that is no longer filled, or a wheel's tag that it has no more, looks like a quiet week.
std::string stale_source(const SourceFacts& facts, const Config::Source& source,
                         const Project& project, Time now) {
  const int most = source.stale_days;
  if (most == 0 || !facts.last_found) return "";
  const auto days = std::chrono::duration_cast<std::chrono::hours>(now - *facts.last_found) /
                    std::chrono::hours(24);
  if (days < most) return "";
  return "no new build of variant " + source.variant + " for " + source.python_tag +
         " has been listed for " + std::to_string(days) + " days; check " +
         keys_to_check(source, project);
}

std::string import_trouble(const SourceFacts& facts) {
  if (facts.import_error.empty()) return "";
  return facts.measured +
         " could not be imported in any run of the last night: " + facts.import_error +
         ". If no regression says so, check [source] python_tag against the runners' Python";
}

std::string unavailable_trouble(const SourceFacts& facts) {
  if (facts.unavailable.empty()) return "";
  return "no workload of the last night could run on its machine, so nothing is known of " +
         facts.measured + ": " + facts.unavailable +
         ". Run nightjar-runner doctor there, or change [night] workloads";
}

std::string runner_trouble(const NightFacts& facts, const Config& config) {
  if (facts.runners == 0)
    return "no runner has registered; start one: nightjar-runner --service URL --token-file FILE, "
           "or --enrol FILE with a one-time token";
  if (facts.live == 0)
    return "no runner was seen for " + std::to_string(config.queue.runner_silent.count()) +
           " s; start nightjar-runner on a measuring machine, or look at its log";
  if (facts.able == 0)
    return "no live runner can run a workload that [night] workloads selects (" +
           joined(config.night.workloads) + ")";
  return "";
}

// Nobody reads what the tracker or the chat did not take.
std::string report_trouble(const NightFacts& facts) {
  if (facts.refused.empty()) return "";
  const OutboxMessage& newest = facts.refused.front();
  const std::size_t others = facts.refused.size() - 1;
  return std::string(receiver_of(newest)) + " refused report " + std::to_string(newest.id.value) +
         (newest.title.empty() ? "" : " (" + newest.title + ")") + ": " +
         newest.error.substr(0, newest.error.find_last_not_of('.') + 1) +
         (others == 0 ? "" : "; and " + std::to_string(others) + " more of the last two weeks") +
         ". Mend the cause, then POST /api/v1/reports/" + std::to_string(newest.id.value) +
         "/retry";
}

std::string schedule_trouble(const Config& config) {
  const bool starts =
      !config.night.at.empty() || config.night.on_new_build || !config.webhook.secret_file.empty();
  return starts ? ""
                : "nights start only by POST /api/v1/nights; set [night] at or on_new_build, or "
                  "[webhook] secret_file";
}

// Each variant has nights of its own.
void add_last_nights(const EngineView& view, std::map<std::string, SourceFacts*> by_variant) {
  const int looked_at = std::min(10 * static_cast<int>(by_variant.size()), 500);
  for (const Night& night : storage::list_nights(view.db, {looked_at, {}}).items) {
    const bool measured = night.state == NightState::judging || night.state == NightState::done;
    if (!measured || !night.build || night.trigger == NightTrigger::imported) continue;
    const auto build = storage::find_build(view.db, *night.build);
    const auto of = build ? by_variant.find(build->variant) : by_variant.end();
    if (of == by_variant.end()) continue;
    const auto why_all = [&](RunStatus status) {
      return storage::why_all_ended(view.db, night.id, status).value_or("");
    };
    of->second->measured = build->version;
    of->second->import_error = why_all(RunStatus::broken_environment);
    of->second->unavailable = why_all(RunStatus::unavailable);
    by_variant.erase(of);  // this was its last one
  }
}

}  // namespace

NightFacts night_facts(const EngineView& view) {
  NightFacts facts;
  const auto sources = sources_of(view.config);
  facts.sources.resize(sources.size());
  std::map<std::string, SourceFacts*> by_variant;
  for (std::size_t i = 0; i < sources.size(); ++i)
    by_variant[sources[i]->variant] = &facts.sources[i];
  for (const BuildState state :
       {BuildState::found, BuildState::proved, BuildState::unproved, BuildState::unusable}) {
    for (Build& build : storage::builds_in_state(view.db, state)) {
      const auto found = by_variant.find(build.variant);
      if (build.kind != BuildKind::nightly || found == by_variant.end()) continue;
      SourceFacts& of = *found->second;
      of.has_proved |= state == BuildState::proved;
      of.last_found = std::max(of.last_found, std::optional(build.found_at));
      if (!of.newest || build.date > of.newest->date) of.newest = std::move(build);
    }
  }
  const auto live = live_runners(view);
  facts.now = view.clock.now();
  add_last_nights(view, by_variant);
  facts.refused = storage::refused_messages(view.db, facts.now - refusal_is_told);
  facts.runners = storage::count_runners(view.db);
  facts.live = static_cast<int>(live.size());
  std::map<const std::vector<std::string>*, bool> able;  // by what runners share
  for (const Runner& runner : live) {
    const auto [found, is_new] = able.try_emplace(&runner.workloads.texts());
    if (is_new) found->second = can_run_any(runner, view.config.night.workloads);
    facts.able += found->second ? 1 : 0;
  }
  return facts;
}

std::vector<Obstacle> find_obstacles(const Surroundings& around,
                                     const std::optional<NightFacts>& facts, const Config& config) {
  std::vector<Obstacle> found;
  const auto add = [&](ObstacleKind kind, std::string reason) {
    if (!reason.empty()) found.push_back({kind, std::move(reason)});
  };
  add(ObstacleKind::database, around.database);
  add(ObstacleKind::disk, around.disk);
  // A broken database makes every step fail.
  if (around.database.empty())
    for (const auto& [step, error] : around.failing)
      add(ObstacleKind::engine, "the step '" + step + "' fails: " + error);
  add(ObstacleKind::source, around.source);
  add(ObstacleKind::repository, around.repository);
  add(ObstacleKind::repository, around.history);
  const auto sources = sources_of(config);
  for (std::size_t i = 0; facts && i < sources.size(); ++i) {
    const SourceFacts& of = facts->sources.at(i);
    if (around.surveyed && around.source.empty() && around.repository.empty())
      add(ObstacleKind::build, build_trouble(of, *sources[i]));
    if (around.source.empty())
      add(ObstacleKind::source, stale_source(of, *sources[i], config.project, facts->now));
    add(ObstacleKind::build, import_trouble(of));
    add(ObstacleKind::runner, unavailable_trouble(of));
  }
  if (facts) add(ObstacleKind::runner, runner_trouble(*facts, config));
  add(ObstacleKind::schedule, schedule_trouble(config));
  if (facts) add(ObstacleKind::report, report_trouble(*facts));
  return found;
}

}  // namespace nightjar::service
