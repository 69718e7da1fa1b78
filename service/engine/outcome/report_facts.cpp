#include "service/engine/outcome/report_facts.hpp"

#include <algorithm>
#include <set>

#include "bisect/search.hpp"
#include "bisect/statistics.hpp"
#include "service/builds/artifacts.hpp"
#include "service/builds/lock.hpp"
#include "service/builds/origin.hpp"
#include "service/builds/overlay.hpp"
#include "service/builds/wheel.hpp"
#include "service/engine/outcome/leak_facts.hpp"
#include "service/engine/outcome/unattributed.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/search/boundary_profiles.hpp"
#include "service/engine/search/limits.hpp"
#include "service/engine/search/package_searches.hpp"
#include "service/engine/search/search_log.hpp"
#include "service/engine/verdict/affected_series.hpp"
#include "service/engine/verdict/extent.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/affected_classes.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/calibration.hpp"
#include "storage/locks.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"
#include "storage/nights.hpp"
#include "storage/package_searches.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/runs.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

ReportBuild build_facts(const EngineView& view, BuildId id) {
  ReportBuild facts;
  if (const auto build = storage::find_build(view.db, id)) {
    facts.version = build->version;
    facts.commit = build->commit;
    facts.nightly = build->nightly_commit;
    facts.wheel = build->url;
    const std::string& here = view.config.service.public_url;
    if (!here.empty() && build->sha256)
      facts.kept = here + "/api/v1/artifacts/" + build->sha256->str();
    if (!here.empty() && build->lock) facts.lock = here + lock_spec(*build->lock).url;
  }
  return facts;
}

bool can_be_laid_over(const EngineView& view, const Build& base, const CommitSha& commit) {
  const auto plan = plan_overlay(view.graph, std::span(&base, 1), commit, view.config.project);
  return std::holds_alternative<OverlayPlan>(plan);
}

// Which commits can be measured without a compiler, as ReportInput has it.
void add_overlays(const EngineView& view, const Bisection& bisection, ReportInput& input) {
  const auto good = storage::find_build(view.db, bisection.good);
  const auto bad = storage::find_build(view.db, bisection.bad);
  if (!good || !bad) return;
  const auto& commits = bisection.commits;
  const auto first_native = std::find_if_not(
      commits.begin(), commits.end(),
      [&](const CommitSha& commit) { return can_be_laid_over(view, *good, commit); });
  if (first_native != commits.begin()) input.over_good = *std::prev(first_native);
  if (first_native == commits.end()) return;
  const auto last_native = std::find_if_not(
      commits.rbegin(), commits.rend(),
      [&](const CommitSha& commit) { return can_be_laid_over(view, *bad, commit); });
  if (last_native != commits.rbegin()) input.over_bad = *std::prev(last_native);
}

// Commit by commit: how many runs, and the level relative to the good end's.
std::vector<ReportTested> tested_facts(const EngineView& view, const Bisection& bisection,
                                       const bisect::SearchLog& log,
                                       const std::vector<Untestable>& untested) {
  std::vector<std::vector<double>> values(bisection.commits.size());
  for (const bisect::SearchRun& run : log.runs)
    values[static_cast<std::size_t>(run.commit)].push_back(run.value);
  std::map<int, Untestable> untestable;
  for (const Untestable& commit : untested) untestable[commit.commit] = commit;
  const double good = values.front().empty() ? 0 : bisect::hodges_lehmann(values.front());
  std::vector<ReportTested> list;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto reason = untestable.find(static_cast<int>(i));
    if (values[i].empty() && reason == untestable.end()) continue;
    ReportTested tested{bisection.commits[i],
                        commit_facts(view, bisection.commits[i]).subject,
                        static_cast<int>(values[i].size()),
                        {},
                        "",
                        {}};
    if (!values[i].empty() && good > 0) tested.ratio = bisect::hodges_lehmann(values[i]) / good;
    if (reason != untestable.end()) {
      tested.untestable = reason->second.reason;
      tested.cause = reason->second.cause;
    }
    list.push_back(std::move(tested));
  }
  return list;
}

std::vector<ReportAlternative> alternatives(const Bisection& bisection,
                                            const std::set<CommitSha>& blamed) {
  std::vector<ReportAlternative> list;
  for (const CellMass& cell : bisection.posterior) {
    auto commits = evidence::cell_commits(cell.first, cell.last, bisection.commits);
    const bool other = std::any_of(commits.begin(), commits.end(),
                                   [&](const CommitSha& sha) { return !blamed.contains(sha); });
    if (other) list.push_back({"", std::move(commits), cell.probability});
  }
  return list;
}

// nullopt if the build's wheel is not here any more.
std::optional<std::map<std::string, std::string>> requirements_of(const EngineView& view,
                                                                  BuildId id) {
  const auto build = storage::find_build(view.db, id);
  if (!build || !build->sha256) return std::nullopt;
  const auto wheel = view.artifacts.find(*build->sha256);
  if (!wheel) return std::nullopt;
  try {
    return read_metadata_of(*wheel).requirements;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Returns how the locks differ with which the two ends were measured; nullopt if an end has none.
std::optional<std::vector<ReportDifference>> locked_differences(const EngineView& view,
                                                                const Regression& regression) {
  std::vector<Lock> locks;
  for (const BuildId id : {regression.good, regression.bad}) {
    const auto build = storage::find_build(view.db, id);
    auto lock = build && build->lock ? storage::find_lock(view.db, *build->lock) : std::nullopt;
    if (!lock) return std::nullopt;
    locks.push_back(*std::move(lock));
  }
  std::vector<ReportDifference> list;
  for (const PackageChange& change : changes_between(locks[0], locks[1]))
    list.push_back({change.name, change.before, change.after});
  return list;
}

// Ends without locks are measured in one session with one Python and its packages: what can differ
// is what the wheels themselves ask for.
std::optional<std::vector<ReportDifference>> differences(const EngineView& view,
                                                         const Regression& regression) {
  if (auto locked = locked_differences(view, regression)) return locked;
  const auto good = requirements_of(view, regression.good);
  const auto bad = requirements_of(view, regression.bad);
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

std::string text_of_result(const RunResult& run) {
  char text[160];
  std::snprintf(text, sizeof text,
                "the checksum of the output is %.9g; that of the last build that passed is %.9g, "
                "and may differ by %g %%",
                *run.checksum, run.expected->checksum, 100 * run.expected->tolerance);
  return text;
}

std::optional<ReportFailure> first_failure(const EngineView& view, const Regression& regression) {
  const auto lead = storage::find_series(view.db, regression.series.front().series);
  if (!lead || lead->metric != failures_metric) return std::nullopt;
  const storage::RunFilter filter{{}, regression.bad, lead->workload};
  for (const auto& run : storage::list_runs(view.db, filter, {100, {}}).items) {
    if (is_failure(run.result.status)) return ReportFailure{run.result.status, run.result.reason};
    if (gives_another_result(run.result))
      return ReportFailure{RunStatus::measured, text_of_result(run.result)};
  }
  return std::nullopt;
}

ReportCulprit culprit_facts(const EngineView& view, const Culprit& named) {
  ReportCulprit facts{{}, named.probability, named.ratio, named.low, named.high};
  for (const CommitSha& sha : named.commits) facts.commits.push_back(commit_facts(view, sha));
  return facts;
}

// The steps that several small ones were found to be; empty for any other end of a search.
std::vector<ReportCulprit> contributors(const EngineView& view, const Bisection& bisection) {
  std::vector<ReportCulprit> list;
  if (bisection.outcome != SearchOutcome::several_small || bisection.state == BisectionState::range)
    return list;
  for (const NamedStep& step : bisection.found)
    list.push_back(
        culprit_facts(view, {evidence::cell_commits(step.first, step.last, bisection.commits),
                             step.probability, step.ratio, step.low, step.high}));
  return list;
}

// The search's own last session that counts; nullptr: none.
const Job* last_session(const SearchRuns& runs) {
  const Job* last = nullptr;
  for (const LogPart& part : runs.parts)
    if (part.own && part.state == SessionOutcome::State::usable) last = &part.job;
  return last;
}

// The version of the wheel that the search last measured this position on.
std::string wheel_version(const EngineView& view, const SearchRuns& runs, int position) {
  for (std::size_t i = runs.log.runs.size(); i-- > 0;)
    if (runs.log.runs[i].commit == position)
      if (const auto wheel = storage::find_build(view.db, runs.wheels[i])) return wheel->version;
  return "an unknown wheel";
}

// Whether the search says of this range that its sides were on wheels that may differ.
void add_wheels_of_range(const EngineView& view, const Bisection& bisection, const SearchRuns& runs,
                         const Culprit& range, ReportInput& input) {
  for (const NamedStep& step : bisection.found) {
    if (step.isolated ||
        evidence::cell_commits(step.first, step.last, bisection.commits) != range.commits)
      continue;
    input.range_wheels = {wheel_version(view, runs, step.first - 1),
                          wheel_version(view, runs, step.last)};
    input.range_may_narrow = true;
    input.range_obstacles.push_back(
        "its two sides were measured on " + input.range_wheels->first + " and on " +
        input.range_wheels->second +
        ", and no commit was measured on both of them or on their like");
    return;
  }
}

// Adds what stands in the way of the range's commits. If nothing else does, these are headers that
// could not be told from the libraries.
void add_obstacles(const Bisection& bisection, const Culprit& range,
                   const std::vector<Untestable>& untestable, ReportInput& input) {
  std::vector<std::string>& reasons = input.range_obstacles;
  input.range_may_narrow = false;
  for (const Untestable& commit : untestable) {
    const CommitSha& sha = bisection.commits.at(static_cast<std::size_t>(commit.commit));
    const bool inside =
        std::find(range.commits.begin(), range.commits.end(), sha) != range.commits.end();
    std::string cause(name_of(commit.cause));
    std::replace(cause.begin(), cause.end(), '_', ' ');
    std::string reason = cause + ": " + commit.reason;
    if (inside && !was_tried(commit.cause)) input.range_may_narrow = true;
    if (inside && std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(std::move(reason));
  }
}

void add_search(const EngineView& view, const Regression& regression, ReportInput& input) {
  const auto bisection = storage::search_behind(view.db, regression.id);
  if (!bisection) return;
  const auto series = storage::find_series(view.db, bisection->series);
  const auto searched = storage::find_regression(view.db, bisection->regression.value());
  if (!series || !searched) return;
  const SearchLimits limits = limits_of(view, *bisection, *series);
  input.search_threshold = limits.threshold;
  if (const auto good = storage::find_build(view.db, bisection->good); good && limits.widened_at)
    input.good = build_facts(view, good->base.value_or(good->id));
  const SearchRuns runs = load_runs(view.db, *bisection, *searched, *series);
  const bisect::SearchLog log = in_cost(runs.log, *series, limits.threshold);
  const auto untestable = storage::untestable_of(view.db, bisection->id);
  std::set<int> commits;
  for (const bisect::SearchRun& run : log.runs) commits.insert(run.commit);
  input.range_commits = static_cast<int>(bisection->commits.size()) - 1;
  input.runs = bisection->runs;
  input.sessions = bisection->sessions;
  commits.erase(0);
  commits.erase(log.commits);
  const auto tried =
      std::count_if(untestable.begin(), untestable.end(),
                    [](const Untestable& commit) { return was_tried(commit.cause); });
  input.builds_made = static_cast<int>(commits.size()) + static_cast<int>(tried);
  input.tested = tested_facts(view, *bisection, log, untestable);
  add_overlays(view, *bisection, input);
  std::set<CommitSha> blamed;
  for (const auto* named : {&regression.culprit, &regression.range})
    if (*named) blamed.insert((*named)->commits.begin(), (*named)->commits.end());
  if (regression.range) add_obstacles(*bisection, *regression.range, untestable, input);
  input.alternatives = alternatives(*bisection, blamed);
  if (const auto* last = last_session(runs); last && last->runner)
    if (const auto runner = storage::find_runner(view.db, *last->runner))
      input.runner = runner->name;
  for (const RegressionChange& change : storage::changes_of(view.db, regression.id))
    if (change.state == RegressionState::blamed || change.state == RegressionState::range)
      input.rule = change.evidence.rule;
  if (regression.range) add_wheels_of_range(view, *bisection, runs, *regression.range, input);
  input.contributors = contributors(view, *bisection);
  input.culprits_of_search = static_cast<int>(bisection->found.size());
  if (!regression.range || !input.range_obstacles.empty()) return;
  input.range_may_narrow = true;
  input.range_obstacles.emplace_back(
      "headers of these commits were laid over libraries that were compiled with other headers; "
      "the change may lie in the libraries");
}

// Returns the stored classes. Those in `elsewhere` are newer, and replace all but the `seen` ones.
std::vector<ReportClass> class_facts(const EngineView& view, RegressionId id,
                                     const std::vector<AffectedClass>& elsewhere) {
  std::map<MachineId, AffectedClass> known;
  for (const AffectedClass& one : elsewhere) known[one.machine] = one;
  for (const AffectedClass& one : storage::affected_classes(view.db, id))
    if (one.state == ClassState::seen || known.count(one.machine) == 0) known[one.machine] = one;
  std::vector<ReportClass> list;
  for (const auto& [machine, found] : known) {
    const auto night =
        found.first_seen ? storage::find_night(view.db, *found.first_seen) : std::nullopt;
    list.push_back(
        {found, class_name(view, machine), night ? to_date(night->started_at) : std::string()});
  }
  return list;
}

void add_packages(const EngineView& view, const Regression& regression, ReportInput& input) {
  if (const auto cause = cause_among_packages(view.db, regression)) {
    ReportPackages& packages = input.packages.emplace();
    for (const NamedPackage& one : cause->packages)
      packages.named.push_back({one.name, one.before, one.after, one.ratio, one.low, one.high});
    packages.said = cause->said;
    packages.left_out = cause->left_out;
  }
  input.pins = pins_of(view, regression);
}

void add_unattributed(const EngineView& view, const Regression& regression, ReportInput& input) {
  input.rule = why_unattributed(view.db, regression.id);
  const auto night = storage::find_night(view.db, regression.night);
  if (view.config.report.unattributed == UnattributedReports::digest && night)
    input.digest_of_week = week_of(night->started_at);
}

}  // namespace

ReportCommit commit_facts(const EngineView& view, const CommitSha& sha) {
  ReportCommit facts{sha, "", "", {}};
  if (const auto commit = view.graph.find(sha)) {
    facts.subject = commit->subject;
    facts.author = commit->author_name;
    facts.date = commit->committed_at;
  }
  return facts;
}

std::string version_of(const EngineView& view, BuildId id) {
  const auto build = storage::find_build(view.db, id);
  return build ? build->version : "a build that is gone";
}

std::vector<ReportPin> pins_of(const EngineView& view, const Regression& regression) {
  std::vector<ReportPin> pins;
  for (const PinMove& move : storage::pin_moves_of(view.db, regression.id))
    pins.push_back({commit_facts(view, move.commit), move.path});
  return pins;
}

ReportInput report_facts(const EngineView& view, const Regression& regression) {
  ReportInput input;
  input.regression = regression.id.value;
  input.fingerprint = regression.fingerprint;
  input.repository = view.config.repository.url;
  input.package = view.config.project.package;
  if (const std::string& url = view.config.service.public_url; !url.empty()) {
    const std::string id = std::to_string(regression.id.value);
    input.details_url = url + "/#/regressions/" + id;
    input.evidence_url = url + "/api/v1/regressions/" + id + "/evidence";
  }
  if (const auto night = storage::find_night(view.db, regression.night))
    input.found_on = to_date(night->started_at);
  if (const auto lead = storage::find_series(view.db, regression.series.front().series)) {
    input.threshold = learned_policy(view, *lead).threshold;
    input.search_threshold = search_threshold(view, *lead);
  }
  input.series = series_facts(view, regression.series);
  if (regression.culprit) input.culprit = culprit_facts(view, *regression.culprit);
  if (regression.range) input.range = culprit_facts(view, *regression.range);
  const ExtentFacts extent = load_extent(view, regression);
  input.extent = decide(extent, regression);
  input.classes = class_facts(view, regression.id, classes_elsewhere(extent));
  input.beside = worse_beside(view, regression, {}, storage::merged_into(view.db, regression.id));
  input.failure = first_failure(view, regression);
  input.leak = leak_facts(view, regression);
  input.index = source_of_variant(view.config, variant_of(view, regression.bad)).index;
  input.run_seconds = view.config.night.run_seconds;
  input.good = build_facts(view, regression.good);
  input.bad = build_facts(view, regression.bad);
  if (const auto machine = storage::find_machine(view.db, regression.machine))
    input.machine = machine->facts;
  input.calibration = storage::calibration_totals(view.db, regression.machine);
  input.differences = differences(view, regression);
  input.attribution = storage::attribution_of(view.db, regression.id);
  if (input.attribution && has_wheel(input.attribution->cause))
    input.wheel_differences = wheel_differences(view.db, regression.good, regression.bad);
  add_packages(view, regression, input);
  add_search(view, regression, input);
  if (!regression.culprit && !regression.range) add_unattributed(view, regression, input);
  input.profiles = boundary_difference(view, regression);
  return input;
}

std::vector<ReportCommit> commits_between(const EngineView& view, BuildId before,
                                          const Build& build) {
  const auto first = storage::find_build(view.db, before);
  if (!build.commit || !first || !first->commit) return {};
  const auto range = view.graph.range(*first->commit, *build.commit);
  if (!range) return {};
  std::vector<ReportCommit> list;
  for (const git::Commit& commit : *range) list.push_back(commit_facts(view, commit.sha));
  return list;
}

}  // namespace nightjar::service
