#include "service/engine/outcome/unattributed.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "bisect/evidence/evidence.hpp"
#include "service/engine/outcome/reporting.hpp"
#include "storage/builds.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

const std::string same_builds =
    "no commit could be named for another finding between the same builds, which has an issue";
const std::string named_elsewhere =
    "a search on another machine class named the cause of the same change between the same builds; "
    "here no search gave an answer";
const std::string same_week = "this week's digest has an issue, and this finding is told there";

// In a digest each finding has a story of its own; between the same builds they may share a cause.
std::string fingerprint_for(const EngineView& view, const Regression& regression) {
  const std::string& repository = view.config.repository.url;
  if (view.config.report.unattributed == UnattributedReports::digest) {
    const auto night = storage::find_night(view.db, regression.night);
    return night ? digest_fingerprint(repository, week_of(night->started_at)) : std::string();
  }
  const auto good = storage::find_build(view.db, regression.good);
  const auto bad = storage::find_build(view.db, regression.bad);
  return good && bad ? unattributed_fingerprint(repository, good->version, bad->version)
                     : std::string();
}

// Findings of that night in the same metric of the same workload, on other machine classes.
std::vector<Regression> on_other_classes(const EngineView& view, const Regression& regression) {
  const auto lead = storage::find_series(view.db, regression.series.front().series);
  std::vector<Regression> found = storage::regressions_of_night(view.db, regression.night);
  std::erase_if(found, [&](const Regression& other) {
    if (other.machine == regression.machine) return true;
    return std::none_of(other.series.begin(), other.series.end(), [&](const AffectedSeries& one) {
      const auto series = storage::find_series(view.db, one.series);
      return series && lead && series->workload == lead->workload && series->metric == lead->metric;
    });
  });
  return found;
}

// The one cause that others were found to have; nullopt: none or several.
std::optional<Regression> only_cause(const EngineView& view,
                                     const std::vector<Regression>& others) {
  using enum RegressionState;
  std::optional<Regression> only;
  for (const Regression& other : others) {
    Regression cause = storage::standing_for(view.db, other);
    const bool stands = cause.state == blamed || cause.state == range || cause.state == reported ||
                        cause.state == recovered;
    if (!stands || (!cause.culprit && !cause.range) || (only && only->id == cause.id)) continue;
    if (only) return std::nullopt;
    only = std::move(cause);
  }
  return only;
}

// Whether the cause shows in each workload and metric that the finding has, with all that joined
// it.
bool explains(const EngineView& view, const Regression& cause, const Regression& finding) {
  std::set<std::pair<std::int64_t, std::string>> shown;
  for (const AffectedSeries& one : cause.series)
    if (const auto series = storage::find_series(view.db, one.series))
      shown.emplace(series->workload.value, series->metric);
  return std::all_of(finding.series.begin(), finding.series.end(), [&](const AffectedSeries& one) {
    const auto series = storage::find_series(view.db, one.series);
    return series && shown.contains({series->workload.value, series->metric});
  });
}

bool apply(EngineContext& context, const GetIssue& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::update_regression(transaction, step.regression);
  });
  return true;
}

bool apply(EngineContext& context, const JoinKnown& step) {
  const bool is_named = step.known.culprit || step.known.range;
  const bool digest = context.config.report.unattributed == UnattributedReports::digest;
  const std::string& why = is_named ? named_elsewhere : digest ? same_week : same_builds;
  storage::write(context.db, [&](storage::Transaction& transaction) {
    store(transaction, step, evidence::of_reason(why), context.clock.now());
  });
  announce(context, step);
  return true;
}

}  // namespace

std::string week_of(Time night) {
  using namespace std::chrono;
  const sys_days day = floor<days>(night);
  return to_date(day - (weekday(day) - Monday));
}

std::string why_unattributed(const storage::Database& db, RegressionId regression) {
  std::string why;
  for (const RegressionChange& change : storage::changes_of(db, regression))
    if (change.state == RegressionState::unattributed) why = change.evidence.rule;
  return why;
}

// What was told already joins a cause that a search on another machine class names later: that
// class was confirmed a night later, say.
UnattributedFacts load_told(const EngineView& view, const Regression& regression) {
  UnattributedFacts facts{regression, night_is_explained(view.db, regression), {}, {}};
  if (!facts.explained) return facts;
  facts.known = only_cause(view, on_other_classes(view, regression));
  if (facts.known && !explains(view, *facts.known, regression)) facts.known.reset();
  return facts;
}

UnattributedFacts load_unattributed(const EngineView& view, const Regression& regression) {
  if (regression.state == RegressionState::reported) return load_told(view, regression);
  UnattributedFacts facts{regression, night_is_explained(view.db, regression), {}, {}};
  if (!facts.explained || !regression.fingerprint.empty()) return facts;
  const std::vector<Regression> others = on_other_classes(view, regression);
  facts.explained = std::none_of(others.begin(), others.end(), may_be_named);
  if (!facts.explained) return facts;
  facts.fingerprint = fingerprint_for(view, regression);
  facts.known = only_cause(view, others);
  if (!facts.known) facts.known = load_known(view, regression, facts.fingerprint);
  return facts;
}

std::optional<UnattributedStep> decide(const UnattributedFacts& facts) {
  if (!facts.explained) return std::nullopt;
  if (facts.known) return join(facts.regression, *facts.known);
  if (!facts.regression.fingerprint.empty() || facts.fingerprint.empty()) return std::nullopt;
  GetIssue step{facts.regression};
  step.regression.fingerprint = facts.fingerprint;
  return step;
}

bool gather_unattributed(EngineContext& context) {
  const auto gather = [&](const Regression& regression) {
    const auto step = decide(load_unattributed(context, regression));
    return step && std::visit([&](const auto& taken) { return apply(context, taken); }, *step);
  };
  std::vector<Regression> nameless = storage::reported_without_name(context.db);
  for (Regression& untold :
       storage::regressions_in_state(context.db, RegressionState::unattributed))
    nameless.push_back(std::move(untold));
  return for_each_item(context, "unattributed regression", nameless, gather);
}

}  // namespace nightjar::service
