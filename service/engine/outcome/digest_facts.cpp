#include "service/engine/outcome/digest_facts.hpp"

#include <algorithm>
#include <set>

#include "service/engine/outcome/cost.hpp"
#include "service/engine/outcome/effect.hpp"
#include "service/engine/outcome/repairs.hpp"
#include "service/engine/outcome/report_facts.hpp"
#include "service/engine/search/fix_searches.hpp"
#include "service/engine/trust/measured.hpp"
#include "service/engine/verdict/affected_series.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/filtered.hpp"
#include "storage/fixes.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"
#include "storage/session_counts.hpp"

namespace nightjar::service {
namespace {

constexpr storage::PageRequest most{500, {}};  // of each list: more make no digest

ReportSeries series_of(const EngineView& view, const AffectedSeries& affected) {
  ReportSeries made;
  if (const auto series = storage::find_series(view.db, affected.series)) {
    made.workload = series->workload_name.str();
    made.metric = series->metric;
    made.machine = "machine class " + std::to_string(series->machine.value);
  }
  made.before = affected.before;
  made.after = affected.after;
  made.ratio = affected.before > 0 ? affected.after / affected.before : 1;
  made.low = made.high = made.ratio;
  if (affected.low < affected.high) {
    made.ratio = affected.ratio;
    made.low = affected.low;
    made.high = affected.high;
  }
  return made;
}

// Since the build of the level before.
std::vector<ReportCommit> commits_of(const EngineView& view, const storage::Improvement& one) {
  const auto build = storage::find_build(view.db, one.build);
  const auto before = build ? build_before(view, one) : std::nullopt;
  return before ? commits_between(view, *before, *build) : std::vector<ReportCommit>();
}

FixFound found_by(const EngineView& view, const FixSearch& fix) {
  if (fix.not_searched)
    return fix.not_searched == FixNotSearched::packages_differ ? FixFound::packages_differ
                                                               : FixFound::not_asked;
  switch (storage::bisection_of(view.db, fix.id).value().state) {
    case BisectionState::open:
      return FixFound::open;
    case BisectionState::culprit:
      return FixFound::named;
    case BisectionState::range:
      return FixFound::range;
    case BisectionState::not_reproduced:
      return FixFound::not_reproduced;
    case BisectionState::inconclusive:
      break;
  }
  return FixFound::inconclusive;
}

// Takes over what the search named.
void add_named(const EngineView& view, const FixSearch& search, DigestFix& fix) {
  const auto causes = named_by(search);
  if (causes.empty()) return;
  fix.commits.clear();
  fix.probability = causes.front().commits.probability;
  for (const NamedCause& cause : causes) {
    fix.probability = std::min(fix.probability, cause.commits.probability);
    for (const CommitSha& sha : cause.commits.commits)
      fix.commits.push_back(commit_facts(view, sha));
  }
  fix.together = causes.size() > 1;
}

// What the searches on these machine classes said of who made the build better: the one that said
// most.
void add_search(const EngineView& view, BuildId build, const std::set<MachineId>& classes,
                DigestFix& fix) {
  for (const MachineId machine : classes) {
    const auto search = storage::fix_search_of(view.db, build, machine);
    if (!search) continue;
    const FixFound found = found_by(view, *search);
    if (found <= fix.found) continue;
    fix.found = found;
    if (const auto series = storage::find_series(view.db, search->series))
      fix.searched = series->workload_name.str();
    add_named(view, *search, fix);
  }
}

class Collector {
 public:
  Collector(const EngineView& view, Time from, Time to) : view_(view), from_(from), to_(to) {}

  DigestInput collect() {
    input_.repository = view_.config.repository.url;
    input_.pages = view_.config.service.public_url;
    input_.from = to_rfc3339(from_).substr(0, 10);
    input_.to = to_rfc3339(to_).substr(0, 10);
    add_nights();
    const MeasuringCosts costs = costs_between(view_.db, from_, to_);
    input_.with_gpu = costs.with_gpu;
    input_.without_gpu = costs.without;
    add_findings();
    add_repairs();
    add_improvements();
    std::stable_sort(input_.fixes.begin(), input_.fixes.end(), [](const auto& a, const auto& b) {
      return a.series.size() > b.series.size();
    });
    add_open();
    for (const Judged& one : cannot_show(load_trust(view_.db, view_.config)))
      input_.not_shown.push_back(
          {class_name(view_, one.machine), one.metric, one.smallest->change});
    return std::move(input_);
  }

 private:
  bool is_inside(Time at) const { return from_ <= at && at < to_; }

  void add_nights() {
    storage::NightFilter filter;
    filter.since = from_;
    for (const Night& night : storage::list_nights(view_.db, filter, most).items) {
      if (!is_inside(night.started_at)) continue;
      ++input_.nights;
      input_.nights_without_build += !night.build;
      const auto sessions = storage::count_sessions(view_.db, night.id);
      input_.sessions += sessions.all;
      input_.void_sessions += sessions.not_usable;
    }
  }

  void add_findings() {
    storage::RegressionFilter filter;
    filter.since = from_;
    for (const Regression& one : storage::list_regressions(view_.db, filter, most).items) {
      if (!lifecycle_of(one.state).is_counted || !is_inside(one.opened_at)) continue;
      DigestFinding finding;
      finding.regression = one.id.value;
      finding.lead = series_of(view_, one.series.front());
      const auto series = storage::find_series(view_.db, one.series.front().series);
      const Effect effect = effect_of(view_.db, one, *series);
      finding.lead.ratio = effect.ratio;
      finding.lead.low = effect.low;
      finding.lead.high = effect.high;
      finding.more_series = one.series.size() - 1;
      finding.state = std::string(name_of(one.state));
      if (one.culprit) finding.culprit = commit_facts(view_, one.culprit->commits.front());
      finding.issue = one.issue_url;
      input_.findings.push_back(std::move(finding));
    }
  }

  // Regressions that one build repaired by the same commits are one fix.
  void add_repairs() {
    storage::RegressionFilter filter;
    filter.state = RegressionState::recovered;
    filter.changed_since = from_;
    std::map<std::pair<BuildId, std::string>, DigestFix> fixes;
    for (const Regression& one : storage::list_regressions(view_.db, filter, most).items) {
      if (!is_inside(one.updated_at)) continue;
      const auto repair = repair_of(view_, one);
      if (!repair) continue;
      const auto first = repair->by.commits.empty() ? "" : repair->by.commits.front().sha.str();
      DigestFix& fix = fixes[{repair->build, first}];
      fix.commits = repair->by.commits;
      fix.version = version_of(view_, repair->build);
      if (repair->by.search) add_search(view_, repair->build, {one.machine}, fix);
      fix.regressions.push_back(one.id.value);
      for (const AffectedSeries& affected : one.series) {
        repaired_.insert({repair->build, affected.series});
        fix.series.push_back(series_of(view_, {affected.series, affected.after, affected.before}));
      }
    }
    for (auto& [key, fix] : fixes) input_.fixes.push_back(std::move(fix));
  }

  void add_improvements() {
    storage::ImprovementFilter filter;
    filter.since = from_;
    std::map<BuildId, std::vector<storage::Improvement>> better;
    for (const auto& one : storage::list_improvements(view_.db, filter, most).items)
      if (is_inside(one.at) && !repaired_.contains({one.build, one.series}) && !is_imported(one))
        better[one.build].push_back(one);
    for (const auto& [build, improvements] : better)
      input_.fixes.push_back(fix_of(view_, improvements));
  }

  bool is_imported(const storage::Improvement& one) {
    const auto night = storage::find_night(view_.db, one.night);
    return night && night->trigger == NightTrigger::imported;
  }

  void add_open() {
    using enum RegressionState;
    const auto counts = storage::count_regressions(view_.db);
    for (const RegressionState state : {suspected, confirmed, bisecting, blamed, reported, range})
      if (const auto found = counts.find(state); found != counts.end() && found->second > 0)
        input_.open[std::string(name_of(state))] = found->second;
  }

  const EngineView& view_;
  Time from_, to_;
  DigestInput input_;
  std::set<std::pair<BuildId, SeriesId>> repaired_;
};

}  // namespace

DigestFix fix_of(const EngineView& view, const std::vector<storage::Improvement>& improvements) {
  DigestFix fix;
  fix.version = version_of(view, improvements.front().build);
  std::set<MachineId> classes;
  for (const storage::Improvement& one : improvements) {
    if (fix.commits.empty()) fix.commits = commits_of(view, one);
    fix.series.push_back(series_of(view, {one.series, one.before, one.after}));
    if (const auto series = storage::find_series(view.db, one.series))
      classes.insert(series->machine);
  }
  add_search(view, improvements.front().build, classes, fix);
  return fix;
}

DigestInput digest_facts(const EngineView& view, Time from, Time to) {
  return Collector(view, from, to).collect();
}

}  // namespace nightjar::service
