#include "service/engine/outcome/report_facts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "bisect/search.hpp"
#include "bisect/statistics.hpp"
#include "service/builds/artifacts.hpp"
#include "service/builds/overlay.hpp"
#include "service/builds/wheel.hpp"
#include "service/engine/search/boundary_profiles.hpp"
#include "service/engine/search/search_log.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/calibration.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/runs.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

ReportCommit commit_facts(EngineContext& context, const CommitSha& sha) {
  ReportCommit facts{sha, "", "", {}};
  if (const auto commit = context.graph.find(sha)) {
    facts.subject = commit->subject();
    facts.author = commit->author_name;
    facts.date = commit->committed_at;
  }
  return facts;
}

ReportBuild build_facts(EngineContext& context, BuildId id) {
  ReportBuild facts;
  if (const auto build = storage::find_build(context.db, id)) {
    facts.version = build->version;
    facts.commit = build->commit;
    facts.nightly = build->nightly_commit;
    facts.wheel = build->url;
    if (!context.config.service.public_url.empty() && build->sha256)
      facts.kept = context.config.service.public_url + "/api/v1/artifacts/" + build->sha256->str();
  }
  return facts;
}

bool can_be_laid_over(EngineContext& context, const Build& base, const CommitSha& commit) {
  const auto plan = plan_overlay(context.graph, std::span(&base, 1), commit);
  return std::holds_alternative<OverlayPlan>(plan);
}

// Which commits can be measured without a compiler, as ReportInput has it.
void add_overlays(EngineContext& context, const Bisection& bisection, ReportInput& input) {
  const auto good = storage::find_build(context.db, bisection.good);
  const auto bad = storage::find_build(context.db, bisection.bad);
  if (!good || !bad) return;
  const auto& commits = bisection.commits;
  const auto first_native = std::find_if_not(
      commits.begin(), commits.end(),
      [&](const CommitSha& commit) { return can_be_laid_over(context, *good, commit); });
  if (first_native != commits.begin()) input.over_good = *std::prev(first_native);
  if (first_native == commits.end()) return;
  const auto last_native = std::find_if_not(
      commits.rbegin(), commits.rend(),
      [&](const CommitSha& commit) { return can_be_laid_over(context, *bad, commit); });
  if (last_native != commits.rbegin()) input.over_bad = *std::prev(last_native);
}

std::string class_text(EngineContext& context, MachineId id) {
  std::string text = "machine class " + std::to_string(id.value);
  const auto machine = storage::find_machine(context.db, id);
  if (!machine) return text;
  const auto model = machine->facts.find("cpu_model");
  return model == machine->facts.end() ? text : text + " (" + model->second + ")";
}

// Commit by commit: how many runs, and the level relative to the good end's.
std::vector<ReportTested> tested_facts(EngineContext& context, const Bisection& bisection,
                                       const bisect::SearchLog& log) {
  std::vector<std::vector<double>> values(bisection.commits.size());
  for (const bisect::SearchRun& run : log.runs)
    values[static_cast<std::size_t>(run.commit)].push_back(run.value);
  std::map<int, std::string> untestable;
  for (const Untestable& commit : storage::untestable_of(context.db, bisection.id))
    untestable[commit.commit] = commit.reason;
  const double good = values.front().empty() ? 0 : bisect::hodges_lehmann(values.front());
  std::vector<ReportTested> list;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto reason = untestable.find(static_cast<int>(i));
    if (values[i].empty() && reason == untestable.end()) continue;
    ReportTested tested{bisection.commits[i],
                        commit_facts(context, bisection.commits[i]).subject,
                        static_cast<int>(values[i].size()),
                        {},
                        ""};
    if (!values[i].empty() && good > 0) tested.ratio = bisect::hodges_lehmann(values[i]) / good;
    if (reason != untestable.end()) tested.untestable = reason->second;
    list.push_back(std::move(tested));
  }
  return list;
}

std::vector<ReportAlternative> alternatives(const Bisection& bisection,
                                            const std::set<CommitSha>& blamed) {
  std::vector<ReportAlternative> list;
  for (const nlohmann::json& entry : nlohmann::json::parse(bisection.posterior)) {
    ReportAlternative alternative;
    alternative.probability = entry.at("probability");
    bool other = false;
    for (const nlohmann::json& sha : entry.at("commits")) {
      alternative.commits.push_back(*CommitSha::parse(sha.get<std::string>()));
      other |= blamed.count(alternative.commits.back()) == 0;
    }
    if (other) list.push_back(std::move(alternative));
  }
  return list;
}

// nullopt if the build's wheel is not here any more.
std::optional<std::map<std::string, std::string>> requirements_of(EngineContext& context,
                                                                  BuildId id) {
  const auto build = storage::find_build(context.db, id);
  if (!build || !build->sha256) return std::nullopt;
  const auto wheel = context.artifacts.path(*build->sha256);
  if (!wheel) return std::nullopt;
  try {
    return read_wheel(*wheel).requirements;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Both ends are measured in one session with one Python and its packages: what can differ is what
// the wheels themselves ask for.
std::optional<std::vector<ReportDifference>> differences(EngineContext& context,
                                                         const Regression& regression) {
  const auto good = requirements_of(context, regression.good);
  const auto bad = requirements_of(context, regression.bad);
  if (!good || !bad) return std::nullopt;
  std::set<std::string> names;
  for (const auto* side : {&*good, &*bad})
    for (const auto& [name, requirement] : *side) names.insert(name);
  std::vector<ReportDifference> list;
  for (const std::string& name : names) {
    const auto text = [&](const auto& side) {
      const auto found = side.find(name);
      if (found == side.end()) return std::string();
      return found->second.empty() ? std::string("any version") : found->second;
    };
    if (text(*good) != text(*bad)) list.push_back({name, text(*good), text(*bad)});
  }
  return list;
}

std::string failure_said(EngineContext& context, const Regression& regression) {
  const auto lead = storage::find_series(context.db, regression.series.front().series);
  if (!lead || lead->metric != kFailures) return {};
  const storage::RunFilter filter{{}, regression.bad, lead->workload};
  for (const auto& run : storage::list_runs(context.db, filter, {100, {}}).items)
    if (is_failure(run.result.status))
      return std::string(name_of(run.result.status)) + ": " + run.result.reason;
  return {};
}

// The steps that several small ones were found to be; empty for any other end of a search.
std::vector<ReportCulprit> contributors(EngineContext& context, const nlohmann::json& evidence) {
  std::vector<ReportCulprit> list;
  if (evidence.value("outcome", "") != name_of(bisect::SearchOutcome::several_small)) return list;
  for (const auto& step : evidence.at("culprits")) {
    ReportCulprit one{
        {}, step.at("probability"), step.at("ratio"), step.at("low"), step.at("high")};
    for (const CommitSha& sha : field<std::vector<CommitSha>>(step, "commits"))
      one.commits.push_back(commit_facts(context, sha));
    list.push_back(std::move(one));
  }
  return list;
}

void add_search(EngineContext& context, const Regression& regression, ReportInput& input) {
  const auto bisection = storage::search_behind(context.db, regression.id);
  if (!bisection) return;
  const auto series = storage::find_series(context.db, bisection->series);
  const auto searched = storage::find_regression(context.db, bisection->regression);
  if (!series || !searched) return;
  const GatheredLog gathered = gather_log(context, *bisection, *searched, *series);
  std::set<int> commits;
  for (const bisect::SearchRun& run : gathered.log.runs) commits.insert(run.commit);
  input.range_commits = static_cast<int>(bisection->commits.size()) - 1;
  input.runs = bisection->runs;
  input.sessions = bisection->sessions;
  commits.erase(0);
  commits.erase(gathered.log.commits);
  input.builds_made = static_cast<int>(commits.size() + gathered.log.untestable.size());
  input.tested = tested_facts(context, *bisection, gathered.log);
  add_overlays(context, *bisection, input);
  std::set<CommitSha> blamed;
  if (regression.culprit)
    blamed.insert(regression.culprit->commits.begin(), regression.culprit->commits.end());
  input.alternatives = alternatives(*bisection, blamed);
  input.differences = differences(context, regression);
  if (gathered.last && gathered.last->runner)
    if (const auto runner = storage::find_runner(context.db, *gathered.last->runner))
      input.runner = runner->name;
  for (const RegressionChange& change : storage::changes_of(context.db, regression.id)) {
    const auto evidence = nlohmann::json::parse(change.evidence);
    if (change.state != RegressionState::blamed) continue;
    input.rule = evidence.value("rule", "");
    input.contributors = contributors(context, evidence);
    if (evidence.contains("culprits"))
      input.culprits_of_search = static_cast<int>(evidence.at("culprits").size());
  }
}

}  // namespace

std::vector<ReportSeries> series_facts(EngineContext& context,
                                       const std::vector<AffectedSeries>& affected,
                                       std::optional<MachineId> beside) {
  std::vector<ReportSeries> list;
  std::vector<MachineId> machines;
  for (const AffectedSeries& one : affected) {
    const auto series = storage::find_series(context.db, one.series);
    if (!series) continue;
    list.push_back({series->workload_name.str(), series->metric, one.before, one.after, one.ratio,
                    one.low, one.high});
    machines.push_back(series->machine);
  }
  std::set<MachineId> classes(machines.begin(), machines.end());
  if (beside) classes.insert(*beside);
  if (classes.size() > 1)
    for (std::size_t i = 0; i < list.size(); ++i)
      list[i].machine = class_text(context, machines[i]);
  return list;
}

ReportInput report_facts(EngineContext& context, const Regression& regression) {
  ReportInput input;
  input.regression = regression.id.value;
  input.fingerprint = regression.fingerprint;
  input.repository = context.config.repository.url;
  if (const std::string& url = context.config.service.public_url; !url.empty()) {
    const std::string id = std::to_string(regression.id.value);
    input.details_url = url + "/#/regressions/" + id;
    input.evidence_url = url + "/api/v1/regressions/" + id + "/evidence";
  }
  if (const auto night = storage::find_night(context.db, regression.night))
    input.found_on = to_date(night->started_at);
  if (const auto lead = storage::find_series(context.db, regression.series.front().series)) {
    input.threshold = learned_policy(context, *lead).threshold;
    input.search_threshold = search_threshold(context, *lead);
  }
  input.series = series_facts(context, regression.series);
  if (regression.culprit) {
    ReportCulprit culprit{{},
                          regression.culprit->probability,
                          regression.culprit->ratio,
                          regression.culprit->low,
                          regression.culprit->high};
    for (const CommitSha& sha : regression.culprit->commits)
      culprit.commits.push_back(commit_facts(context, sha));
    input.culprit = std::move(culprit);
  }
  input.failure = failure_said(context, regression);
  input.index = context.config.source.index;
  input.run_seconds = context.config.night.run_seconds;
  input.good = build_facts(context, regression.good);
  input.bad = build_facts(context, regression.bad);
  if (const auto machine = storage::find_machine(context.db, regression.machine))
    input.machine = machine->facts;
  input.calibration = storage::calibration_totals(context.db, regression.machine);
  add_search(context, regression, input);
  input.profiles = boundary_difference(context, regression);
  return input;
}

std::vector<ReportCommit> commits_that_may_have_repaired(
    EngineContext& context, const Regression& regression,
    const std::optional<CommitSha>& good_again) {
  const auto bad = storage::find_build(context.db, regression.bad);
  if (!good_again || !bad || !bad->commit) return {};
  const auto range = context.graph.range(*bad->commit, *good_again);
  if (!range) return {};
  std::vector<ReportCommit> list;
  for (const git::Commit& commit : *range) list.push_back(commit_facts(context, commit.sha));
  return list;
}

}  // namespace nightjar::service
