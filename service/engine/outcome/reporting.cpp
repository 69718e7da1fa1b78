#include "service/engine/outcome/reporting.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bisect/evidence/evidence.hpp"
#include "service/engine/outcome/follow_up.hpp"
#include "service/engine/outcome/report_facts.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/search/boundary_profiles.hpp"
#include "service/engine/verdict/levels.hpp"
#include "service/report/report.hpp"
#include "storage/builds.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

void announce(EngineContext& context, const Regression& regression, RegressionState state) {
  context.publish("regression",
                  nlohmann::json{{"id", regression.id.value}, {"state", name_of(state)}}.dump());
}

bool night_is_explained(EngineContext& context, const Regression& blamed) {
  for (const Regression& other : storage::regressions_of_night(context.db, blamed.night)) {
    const bool open = other.state == RegressionState::suspected ||
                      other.state == RegressionState::confirmed ||
                      other.state == RegressionState::bisecting;
    if (open && other.machine == blamed.machine) return false;
  }
  return true;
}

void queue_issue(EngineContext& context, const Regression& regression) {
  const RenderedIssue issue = render_issue(report_facts(context, regression));
  OutboxMessage message;
  message.key = issue_key(regression.fingerprint);
  message.regression = regression.id;
  message.kind = OutboxKind::open_issue;
  message.title = issue.title;
  message.body = issue.body;
  message.created_at = context.clock.now();
  storage::Transaction transaction(context.db);
  storage::add_message(transaction, message);
  storage::change_regression(transaction, regression,
                             {RegressionState::reported, context.clock.now(),
                              nlohmann::json{{"title", issue.title}}.dump()});
  transaction.commit();
  announce(context, regression, RegressionState::reported);
}

// The newest `count` accepted levels of a series after the regression's night, newest first.
std::vector<Level> later_levels(EngineContext& context, const AffectedSeries& affected,
                                NightId night, int count) {
  constexpr NightId kEver{1ll << 60};
  std::vector<Level> levels = storage::levels_before(context.db, affected.series, kEver, count);
  std::erase_if(levels, [&](const Level& level) { return level.night <= night; });
  return levels;
}

// Good again on each of the last nights.
bool has_recovered(EngineContext& context, const AffectedSeries& affected, NightId night) {
  const auto series = storage::find_series(context.db, affected.series);
  if (!series) return false;
  const int nights = context.config.report.recovered_nights;
  const auto levels = later_levels(context, affected, night, nights);
  const double threshold = policy_of(*series, context.config).threshold;
  return static_cast<int>(levels.size()) == nights &&
         std::all_of(levels.begin(), levels.end(), [&](const Level& level) {
           return is_back(worsening(*series, affected.before, level.value), threshold);
         });
}

std::string recovery_text(EngineContext& context, const Regression& regression, std::string& key) {
  RecoveredComment comment;
  comment.fingerprint = regression.fingerprint;
  comment.nights = context.config.report.recovered_nights;
  comment.repository = context.config.repository.url;
  std::vector<AffectedSeries> recovered;
  for (const AffectedSeries& affected : regression.series) {
    const auto levels = later_levels(context, affected, regression.night, comment.nights);
    if (levels.empty()) continue;
    const double now = levels.front().value;
    const double ratio = now / affected.before;
    recovered.push_back({affected.series, affected.before, now, ratio, ratio, ratio});
    if (const auto build = storage::find_build(context.db, levels.back().build)) {
      comment.version = build->version;
      comment.commit = build->commit;
    }
  }
  comment.series = series_facts(context, recovered);
  comment.candidates = commits_that_may_have_repaired(context, regression, comment.commit);
  key = recovered_key(regression.fingerprint, comment.version);
  return render_recovered_comment(comment);
}

void close(EngineContext& context, const Regression& regression) {
  OutboxMessage message;
  message.body = recovery_text(context, regression, message.key);
  message.regression = regression.id;
  message.kind = OutboxKind::close_issue;
  message.created_at = context.clock.now();
  storage::Transaction transaction(context.db);
  storage::add_message(transaction, message);
  storage::change_regression(
      transaction, regression,
      {RegressionState::recovered, context.clock.now(),
       evidence::of_reason("every affected series has been back at its level for " +
                           std::to_string(context.config.report.recovered_nights) + " nights")});
  transaction.commit();
  announce(context, regression, RegressionState::recovered);
}

}  // namespace

bool report_blamed(EngineContext& context) {
  bool changed = false;
  for (const Regression& regression :
       storage::regressions_in_state(context.db, RegressionState::blamed)) {
    if (!night_is_explained(context, regression) || !boundary_is_profiled(context, regression))
      continue;
    queue_issue(context, regression);
    changed = true;
  }
  return changed;
}

bool watch_recovery(EngineContext& context) {
  bool changed = false;
  for (const Regression& regression :
       storage::regressions_in_state(context.db, RegressionState::reported)) {
    const bool back = std::all_of(regression.series.begin(), regression.series.end(),
                                  [&](const AffectedSeries& affected) {
                                    return has_recovered(context, affected, regression.night);
                                  });
    if (!back) continue;
    close(context, regression);
    changed = true;
  }
  return changed;
}

}  // namespace nightjar::service
