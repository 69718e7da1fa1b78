#include "service/engine/verdict/observation.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "bisect/control.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "service/engine/verdict/levels.hpp"
#include "service/engine/verdict/series_histories.hpp"
#include "storage/jobs.hpp"
#include "storage/many_series.hpp"
#include "storage/nights.hpp"
#include "storage/runners.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t nights_of_level = 14;  // nights that a level is held against
constexpr int creep_levels = 40;             // and those in which a creep is looked for
constexpr std::size_t together = 8, model_names = 4;
constexpr double most_of_group = .5;  // share of the group
constexpr int nights_unclear = 3;     // and no more: see WaitedEnough

// How many series of a group moved, and of how many models.
struct Share {
  std::size_t series = 0;
  std::set<std::string> models{};

  void add(const Observation& observed) {
    ++series;
    models.emplace(observed.series.workload_name.model());
  }
  bool is_most_of(std::size_t all) const {
    return series >= together && models.size() >= model_names &&
           static_cast<double>(series) >= most_of_group * static_cast<double>(all);
  }
};

struct Tonight {
  evidence::Values values;    // of the night's build
  std::vector<double> again;  // of another one that was measured again
  std::optional<BuildId> other;
  std::vector<ControlReading> controls;  // of the sessions of `values`, that the series moves with
};

// A usable session: which one counts first, and its controls.
struct UsableSession {
  std::size_t place = 0;
  std::vector<ControlReading> controls;
};
struct UsableSessions {
  const std::vector<Job>& jobs;
  std::map<JobId, UsableSession> by_job{};
};

UsableSessions sessions_for(const storage::Database& db, const std::vector<Job>& usable) {
  UsableSessions sessions{usable};
  for (const Job& job : usable)
    sessions.by_job.emplace(
        job.id, UsableSession{sessions.by_job.size(), storage::readings_of(db, job.id)});
  return sessions;
}

Tonight values_tonight(const Series& series, std::vector<SeriesRun> runs, BuildId build,
                       const UsableSessions& sessions) {
  std::erase_if(runs, [&](const SeriesRun& run) { return !sessions.by_job.contains(run.job); });
  std::stable_sort(runs.begin(), runs.end(), [&](const SeriesRun& a, const SeriesRun& b) {
    return sessions.by_job.at(a.job).place < sessions.by_job.at(b.job).place;
  });
  Tonight tonight;
  std::set<JobId> jobs;
  for (const SeriesRun& run : runs) {
    if (run.build != build) {
      tonight.again.push_back(run.value);
      tonight.other = run.build;
      continue;
    }
    tonight.values.values.push_back(run.value);
    tonight.values.runs.push_back(run.run);
    if (!jobs.insert(run.job).second) continue;
    for (const ControlReading& one : sessions.by_job.at(run.job).controls)
      if (bisect::moves_with(one.gauge, series.metric, series.workload_name.device()))
        tonight.controls.push_back(one);
  }
  return tonight;
}

// Series that have a value of the night's build, and beside each what was measured of it.
struct Measured {
  std::vector<Series> series;
  std::vector<Tonight> tonight;
};

Measured measured_tonight(const EngineView& view, const Night& night,
                          const UsableSessions& sessions, const std::string& metric) {
  Measured measured;
  for (auto& one : storage::series_measured_in(view.db, night.id, JobKind::screen, metric)) {
    if (!is_judged(one.series, view.config)) continue;
    Tonight tonight = values_tonight(one.series, std::move(one.runs), *night.build, sessions);
    if (tonight.values.values.empty()) continue;
    measured.series.push_back(std::move(one.series));
    measured.tonight.push_back(std::move(tonight));
  }
  return measured;
}

// "kernel 6.1.0 → 6.8.0", by the runners that measured; empty: nothing changed.
std::string facts_that_changed(const EngineView& view, const Night& night,
                               const std::vector<Job>& usable, MachineId machine) {
  const auto before = storage::last_night_on(view.db, machine, night.id);
  const auto job = std::find_if(usable.begin(), usable.end(),
                                [&](const Job& one) { return one.machine == machine; });
  if (!before || job == usable.end()) return "";
  const auto known = storage::facts_of_sessions(view.db, before->id, machine);
  const auto to = storage::find_facts(view.db, storage::facts_of_job(view.db, job->id));
  const auto from = known.empty() ? std::nullopt : storage::find_facts(view.db, *known.rbegin());
  return from && to ? facts_changed(from->facts, to->facts) : "";
}

// If the build that was measured again is no longer at its level, the machine moved, or chance did:
// a kernel update looks at each series of a class. Both builds run on the same machine, so it moved
// only if tonight's is off the level in the same direction. Then what the older build gives tonight
// is the level that tonight's is held against.
// If tonight's build is worse than the older one beside it, a confirmation tells which it was: a
// faster machine may hide a slower build. A build without a level of its own tells nothing of the
// machine: it may be under suspicion itself.
void take_again(Observation& observed, const Tonight& tonight, NightId night) {
  if (tonight.again.empty() || observed.levels.empty() ||
      observed.levels.front().build != *tonight.other)
    return;
  using enum bisect::ScreenVerdict;
  const auto now = bisect::screen(observed.level_values, tonight.again, observed.policy);
  if (now.verdict != suspect_worse && now.verdict != suspect_better) return;
  if (!is_clear(now, observed.policy)) return;
  // Among the levels are those of other builds, which may have been other ones indeed.
  const double moved = now.level / observed.level_values.front();
  if (std::abs(std::log(moved)) <= std::log1p(observed.policy.screen_change)) return;
  const std::vector<double> beside{now.level};
  const auto of_tonight = [&](const std::vector<double>& levels) {
    return bisect::screen(levels, observed.tonight.values, observed.policy).verdict;
  };
  const bool machine_moved = of_tonight(observed.level_values) == now.verdict;
  if (!machine_moved && of_tonight(beside) != suspect_worse) return;
  const Level level{observed.series.id, *tonight.other, night, now.level,
                    static_cast<int>(tonight.again.size())};
  observed.levels = {level};
  observed.level_values = beside;
  observed.controls.clear();  // the level is of tonight's machine
  if (!machine_moved) return;
  observed.again = level;
  observed.moved = moved;
}

// A noisy series goes up and down again, which is no news.
bool is_known(const EngineView& view, const Observation& observed, double level) {
  const NightId oldest = observed.levels.at(observed.level_values.size() - 1).night;
  const auto known = storage::improvements_of(view.db, observed.series.id);
  return std::any_of(known.begin(), known.end(), [&](const storage::Improvement& one) {
    const double cost = worsening(observed.series, one.after, level);
    return one.night >= oldest && cost * (1 + observed.policy.threshold) > 1;
  });
}

// No confirmation follows an improvement, so two nights must show it, each clearly against the
// levels before both: a host that is noisy for a night shows improvements of 10 % and more.
// The better level is what tonight is held against if tonight is better too, or if it is worse than
// that level: then a confirmation tells whether it was one.
void take_improvement(const EngineView& view, Observation& observed, const Night& night) {
  if (observed.again || observed.level_values.size() < 2) return;
  const Level first = observed.levels.front();
  if (first.build == *night.build) return;
  const std::vector<double> older(observed.level_values.begin() + 1, observed.level_values.end());
  const double reference = bisect::hodges_lehmann(older);
  const auto is_large = [&](double level) {
    return worsening(observed.series, reference, level) * (1 + observed.policy.threshold) <= 1;
  };
  const auto is_better = [&](const std::vector<double>& runs,
                             std::span<const ControlReading> controls) {
    const auto screen = bisect::screen(older, runs, observed.policy, controls);
    return screen.verdict == bisect::ScreenVerdict::suspect_better &&
           is_clear(screen, observed.policy) && is_large(screen.level);
  };
  if (!is_large(first.value)) return;  // of nearly all series, without reading their runs
  std::vector<double> runs;
  for (const SeriesRun& run : storage::runs_of_build(view.db, observed.series.id, first.build,
                                                     first.night, JobKind::screen))
    runs.push_back(run.value);
  if (runs.empty() || !is_better(runs, {})) return;
  const std::vector<double>& tonight = observed.tonight.values;
  const std::vector<double> level{first.value};
  if (is_better(tonight, observed.controls)) {
    if (!is_known(view, observed, first.value))
      observed.improved = storage::Improvement{
          0, night.id, observed.series.id, first.build, reference, first.value, view.clock.now()};
  } else if (bisect::screen(level, tonight, observed.policy, observed.controls).verdict !=
             bisect::ScreenVerdict::suspect_worse) {
    return;
  }
  observed.levels = {first};
  observed.level_values = level;
}

void screen_by_controls(Observation& observed) {
  observed.screen = bisect::screen(observed.level_values, observed.tonight.values, observed.policy,
                                   observed.controls);
}

// What of a series' observation depends on no other one.
Observation observe_series(const EngineView& view, const Night& night, const Series& series,
                           const Tonight& tonight, const SeriesHistory& history,
                           const bisect::SeriesNoise& noise) {
  Observation observed{series,
                       bisect::adapted(policy_of(series, view.config), noise),
                       tonight.values,
                       history.levels,
                       {},
                       {}};
  observed.noise = noise;
  observed.controls = tonight.controls;
  observed.has_level =
      history.newest && history.newest->night == night.id && history.newest->build == *night.build;
  for (const Level& level : observed.levels) observed.level_values.push_back(level.value);
  if (observed.level_values.size() > nights_of_level) observed.level_values.resize(nights_of_level);
  take_again(observed, tonight, night.id);
  take_improvement(view, observed, night);
  screen_by_controls(observed);
  observed.same_build = !observed.levels.empty() && observed.levels.front().build == *night.build;
  if (observed.same_build) observed.screen.verdict = bisect::Screen::Verdict::same;
  return observed;
}

// The `count`th night before this one on the machine class; nullopt: there were fewer.
std::optional<NightId> nights_before(const EngineView& view, MachineId machine, NightId night,
                                     int count) {
  for (int i = 0; i < count; ++i) {
    const auto before = storage::last_night_on(view.db, machine, night);
    if (!before) return std::nullopt;
    night = before->id;
  }
  return night;
}

// Judges a series that was unclear in the last nights without its controls. A session may differ
// from the class for good: a runner that is slower than the others, or hot each time it comes to
// it. Then its levels have that, and the control would hide a change for ever.
class WaitedEnough {
 public:
  WaitedEnough(const EngineView& view, NightId night) : view_(view), night_(night) {}

  void judge(Observation& observed) {
    if (!observed.unclear()) return;
    const auto [known, is_new] = oldest_.try_emplace(observed.series.machine);
    if (is_new)
      known->second = nights_before(view_, observed.series.machine, night_, nights_unclear);
    if (!known->second || observed.levels.front().night >= *known->second) return;
    observed.controls.clear();
    screen_by_controls(observed);
  }

 private:
  const EngineView& view_;
  const NightId night_;
  std::map<MachineId, std::optional<NightId>> oldest_;  // night that a level is waited for
};

// Whether the noise of the series may change what was observed without it. Noise only widens the
// policy, so what is the same by the configured one remains the same.
bool depends_on_noise(const Observation& observed, const Tonight& tonight,
                      const SeriesHistory& history) {
  return observed.worse() || observed.better() || observed.unclear() || !tonight.again.empty() ||
         observed.levels.size() != history.levels.size();
}

// `nights`: the number of levels that are read of each series.
struct Depth {
  int nights;
  bool all_noise;  // false: learned only where it decides something
};

Observations observe_metric(const EngineView& view, const Night& night,
                            const UsableSessions& sessions, const std::string& metric,
                            const Depth& depth) {
  const Measured measured = measured_tonight(view, night, sessions, metric);
  const auto histories = load_histories(view, measured.series, night.id, depth.nights);
  WaitedEnough waited(view, night.id);
  const auto observe_one = [&](std::size_t i, const bisect::SeriesNoise& noise) {
    const Series& series = measured.series[i];
    Observation one =
        observe_series(view, night, series, measured.tonight[i], histories.at(series.id), noise);
    waited.judge(one);
    return one;
  };
  std::vector<Observation> observed;
  std::vector<Series> noisy;
  for (std::size_t i = 0; i < measured.series.size(); ++i) {
    const Series& series = measured.series[i];
    if (!depth.all_noise) observed.push_back(observe_one(i, {}));
    if (depth.all_noise ||
        depends_on_noise(observed.back(), measured.tonight[i], histories.at(series.id)))
      noisy.push_back(series);
  }
  const auto noise = load_noise(view, noisy);
  const std::set<SeriesId> suspicious = series_under_suspicion(view.db);
  std::map<MachineId, std::optional<std::string>> changed;
  Observations all;
  for (std::size_t i = 0; i < measured.series.size(); ++i) {
    const Series& series = measured.series[i];
    const auto known = noise.find(series.id);
    Observation one = known == noise.end() ? std::move(observed[i]) : observe_one(i, known->second);
    one.suspicious = suspicious.contains(series.id);
    if (one.again) {
      auto& text = changed[series.machine];
      if (!text) text = facts_that_changed(view, night, sessions.jobs, series.machine);
      one.facts_changed = *text;
    }
    all[{series.machine, series.metric}].push_back(std::move(one));
  }
  return all;
}

}  // namespace

bool is_clear(const bisect::Screen& screen, const bisect::DetectionPolicy& policy) {
  return std::abs(screen.z) > 2 * policy.screen_z;
}

Observations observe(const EngineView& view, const Night& night, const std::vector<Job>& usable) {
  Observations all;
  const UsableSessions sessions = sessions_for(view.db, usable);
  const auto& metrics = view.config.night.metrics;
  for (const std::string& metric : std::set<std::string>(metrics.begin(), metrics.end()))
    all.merge(observe_metric(view, night, sessions, metric, {creep_levels, true}));
  return all;
}

Observations observe(const EngineView& view, const Night& night, const std::vector<Job>& usable,
                     const std::string& metric) {
  return observe_metric(view, night, sessions_for(view.db, usable), metric,
                        {static_cast<int>(nights_of_level), false});
}

std::optional<Level> level_of(const Night& night, const Observation& observed) {
  if (observed.suspicious || observed.same_build) return std::nullopt;
  return Level{observed.series.id, *night.build, night.id, observed.screen.level,
               static_cast<int>(observed.tonight.values.size())};
}

MovedTogether moved_together(const std::vector<Observation>& all) {
  MovedTogether moved;
  Share clear, every;
  for (const Observation& observed : all) {
    const bool is_clear = observed.worse() || observed.better();
    if (is_clear) clear.add(observed);
    if (is_clear || observed.unclear()) every.add(observed);
    if (is_clear && !observed.suspicious) moved.held.push_back(&observed);
  }
  const bool any_worse = std::any_of(moved.held.begin(), moved.held.end(),
                                     [](const Observation* one) { return one->worse(); });
  moved.count = every.series;
  moved.begins_again = clear.is_most_of(all.size());
  if (!moved.begins_again && !(any_worse && every.is_most_of(all.size()))) return {};
  std::stable_sort(moved.held.begin(), moved.held.end(),
                   [](const Observation* a, const Observation* b) {
                     return std::abs(a->screen.z) > std::abs(b->screen.z);
                   });
  return moved;
}

}  // namespace nightjar::service
