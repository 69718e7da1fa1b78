#include "service/engine/verdict/extent.hpp"

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "service/engine/jobs/session_check.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

bool explains(const Regression& other) {
  using enum RegressionState;
  return other.state != dismissed && other.state != unconfirmed;
}

std::set<SeriesId> explained_series(const ExtentFacts& facts, const Regression& regression) {
  std::set<SeriesId> known;
  for (const AffectedSeries& one : regression.series) known.insert(one.series);
  for (const Regression& other : facts.regressions)
    if (explains(other))
      for (const AffectedSeries& one : other.series) known.insert(one.series);
  return known;
}

// Side by side the builds did not differ, whatever the night had said of the series.
bool is_refuted(const ExtentFacts& facts, const Observation& one) {
  const Regression* own = suspicion_of(one, facts.regressions);
  return own != nullptr && own->state == RegressionState::dismissed;
}

// Findings of one have the same series beside them.
using NightGroup = std::tuple<NightId, MachineId, std::string>;

NightGroup group_of(const EngineView& view, const Regression& finding) {
  const auto lead = storage::find_series(view.db, finding.series.front().series);
  return {finding.night, finding.machine, lead ? lead->metric : std::string()};
}

}  // namespace

ExtentFacts load_extent(const EngineView& view, const Regression& regression) {
  ExtentFacts facts;
  const auto lead = storage::find_series(view.db, regression.series.front().series);
  const auto night = storage::find_night(view.db, regression.night);
  if (!lead || !night || !night->build) return facts;
  facts.metric = lead->metric;
  facts.regressions = storage::regressions_of_night(view.db, night->id);
  const auto asked = storage::jobs_of_night(view.db, night->id, JobKind::screen);
  const std::vector<Job> usable = outcomes_of(view.db, asked).usable;
  facts.observed = observe(view, *night, usable, facts.metric);
  facts.classes = classes_to_ask(view, usable);
  facts.shown = series_shown(view, regression);
  return facts;
}

ReportExtent decide(const ExtentFacts& facts, const Regression& regression,
                    std::optional<MachineId> machine) {
  ReportExtent extent;
  const std::set<SeriesId> explained = explained_series(facts, regression);
  const auto add = [&](const Observation& one) {
    using enum bisect::ScreenVerdict;
    if (explained.contains(one.series.id) || one.screen.verdict == first_night || one.unclear())
      return;
    const double ratio = 1 + one.screen.change;
    const bool is_large = std::abs(std::log(ratio)) >= std::log1p(one.policy.threshold);
    const ReportExtent::Other other{one.series.workload_name.str(), one.series.machine, ratio,
                                    one.series.id};
    if (!one.worse() || is_refuted(facts, one))
      extent.not_seen.push_back(other);
    else if (is_large)
      extent.worse.push_back(other);
    else
      ++extent.unclear;
  };
  for (const auto& [group, all] : facts.observed)
    if (!machine || group.first == *machine)
      for (const Observation& one : all) add(one);
  return extent;
}

std::vector<AffectedClass> classes_elsewhere(const ExtentFacts& facts) {
  return classes_elsewhere(facts.shown, facts.observed, facts.regressions, facts.classes);
}

std::vector<ReportBeside> worse_beside(const EngineView& view, const Regression& known,
                                       const std::vector<Regression>& told,
                                       const std::vector<Regression>& joining) {
  const auto [own_night, own_machine, own_metric] = group_of(view, known);
  std::set<NightGroup> done;
  for (const Regression& one : told) done.insert(group_of(view, one));
  std::vector<ReportBeside> all;
  // One observation is enough for all machine classes.
  std::map<std::pair<NightId, std::string>, ExtentFacts> known_nights;
  for (const Regression& finding : joining) {
    const NightGroup group = group_of(view, finding);
    const std::string& metric = std::get<std::string>(group);
    if ((finding.night == own_night && metric == own_metric) || !done.insert(group).second)
      continue;
    const auto [facts, is_new] = known_nights.try_emplace({finding.night, metric});
    if (is_new) facts->second = load_extent(view, finding);
    ReportExtent extent = decide(facts->second, finding, finding.machine);
    if (extent.worse.empty() && extent.unclear == 0) continue;
    const auto build = storage::find_build(view.db, finding.bad);
    all.push_back(
        {metric, build ? build->version : std::string(), std::move(extent.worse), extent.unclear});
  }
  return all;
}

}  // namespace nightjar::service
