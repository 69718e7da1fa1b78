#include "service/engine/outcome/unattributed.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "bisect/evidence/evidence.hpp"
#include "service/engine/outcome/reporting.hpp"
#include "storage/builds.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"

namespace nightjar::service {
namespace {

const std::string kSameBuilds =
    "no commit could be named for another finding between the same builds, which has an issue";
const std::string kSameWeek = "this week's digest has an issue, and this finding is told there";

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

bool apply(EngineContext& context, const GetIssue& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::update_regression(transaction, step.regression);
  });
  return true;
}

bool apply(EngineContext& context, const JoinKnown& step) {
  const bool digest = context.config.report.unattributed == UnattributedReports::digest;
  storage::write(context.db, [&](storage::Transaction& transaction) {
    store(transaction, step, evidence::of_reason(digest ? kSameWeek : kSameBuilds),
          context.clock.now());
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
  for (const RegressionChange& change : storage::changes_of(db, regression)) {
    if (change.state != RegressionState::unattributed) continue;
    const auto evidence = nlohmann::json::parse(change.evidence);
    why = evidence.value("rule", evidence.value("reason", ""));
  }
  return why;
}

UnattributedFacts load_unattributed(const EngineView& view, const Regression& regression) {
  UnattributedFacts facts{regression, night_is_explained(view.db, regression), {}, {}};
  if (!facts.explained || !regression.fingerprint.empty()) return facts;
  facts.fingerprint = fingerprint_for(view, regression);
  facts.known = load_known(view, regression, facts.fingerprint);
  return facts;
}

std::optional<UnattributedStep> decide(const UnattributedFacts& facts) {
  if (!facts.explained || !facts.regression.fingerprint.empty() || facts.fingerprint.empty())
    return std::nullopt;
  if (facts.known) return join(facts.regression, *facts.known);
  GetIssue step{facts.regression};
  step.regression.fingerprint = facts.fingerprint;
  return step;
}

bool gather_unattributed(EngineContext& context) {
  const auto gather = [&](const Regression& regression) {
    const auto step = decide(load_unattributed(context, regression));
    return step && std::visit([&](const auto& taken) { return apply(context, taken); }, *step);
  };
  return for_each_item(context, "unattributed regression",
                       storage::regressions_in_state(context.db, RegressionState::unattributed),
                       gather);
}

}  // namespace nightjar::service
