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

void announce(Desk& desk, const Regression& regression, RegressionState state) {
  desk.publish("regression",
               nlohmann::json{{"id", regression.id.value}, {"state", name_of(state)}}.dump());
}

bool night_is_explained(Desk& desk, const Regression& blamed) {
  for (const Regression& other : storage::regressions_of_night(desk.db, blamed.night)) {
    const bool open = other.state == RegressionState::suspected ||
                      other.state == RegressionState::confirmed ||
                      other.state == RegressionState::bisecting;
    if (open && other.machine == blamed.machine) return false;
  }
  return true;
}

void queue_issue(Desk& desk, const Regression& regression) {
  const RenderedIssue issue = render_issue(report_facts(desk, regression));
  OutboxMessage message;
  message.key = issue_key(regression.fingerprint);
  message.regression = regression.id;
  message.kind = OutboxKind::open_issue;
  message.title = issue.title;
  message.body = issue.body;
  message.created_at = desk.clock.now();
  storage::Transaction transaction(desk.db);
  storage::add_message(transaction, message);
  storage::change_regression(
      transaction, regression,
      {RegressionState::reported, desk.clock.now(), nlohmann::json{{"title", issue.title}}.dump()});
  transaction.commit();
  announce(desk, regression, RegressionState::reported);
}

// The newest `count` accepted levels of a series after the regression's night, newest first.
std::vector<Level> later_levels(Desk& desk, const AffectedSeries& affected, NightId night,
                                int count) {
  constexpr NightId kEver{1ll << 60};
  std::vector<Level> levels = storage::levels_before(desk.db, affected.series, kEver, count);
  std::erase_if(levels, [&](const Level& level) { return level.night <= night; });
  return levels;
}

// Good again on each of the last nights.
bool has_recovered(Desk& desk, const AffectedSeries& affected, NightId night) {
  const auto series = storage::find_series(desk.db, affected.series);
  if (!series) return false;
  const int nights = desk.config.report.recovered_nights;
  const auto levels = later_levels(desk, affected, night, nights);
  const double threshold = policy_of(*series, desk.config).threshold;
  return static_cast<int>(levels.size()) == nights &&
         std::all_of(levels.begin(), levels.end(), [&](const Level& level) {
           return is_back(worsening(*series, affected.before, level.value), threshold);
         });
}

std::string recovery_text(Desk& desk, const Regression& regression, std::string& key) {
  RecoveredComment comment;
  comment.fingerprint = regression.fingerprint;
  comment.nights = desk.config.report.recovered_nights;
  comment.repository = desk.config.repository.url;
  std::vector<AffectedSeries> recovered;
  for (const AffectedSeries& affected : regression.series) {
    const auto levels = later_levels(desk, affected, regression.night, comment.nights);
    if (levels.empty()) continue;
    const double now = levels.front().value;
    const double ratio = now / affected.before;
    recovered.push_back({affected.series, affected.before, now, ratio, ratio, ratio});
    if (const auto build = storage::find_build(desk.db, levels.back().build)) {
      comment.version = build->version;
      comment.commit = build->commit;
    }
  }
  comment.series = series_facts(desk, recovered);
  comment.candidates = commits_that_may_have_repaired(desk, regression, comment.commit);
  key = recovered_key(regression.fingerprint, comment.version);
  return render_recovered_comment(comment);
}

void close(Desk& desk, const Regression& regression) {
  OutboxMessage message;
  message.body = recovery_text(desk, regression, message.key);
  message.regression = regression.id;
  message.kind = OutboxKind::close_issue;
  message.created_at = desk.clock.now();
  storage::Transaction transaction(desk.db);
  storage::add_message(transaction, message);
  storage::change_regression(
      transaction, regression,
      {RegressionState::recovered, desk.clock.now(),
       evidence::of_reason("every affected series has been back at its level for " +
                           std::to_string(desk.config.report.recovered_nights) + " nights")});
  transaction.commit();
  announce(desk, regression, RegressionState::recovered);
}

}  // namespace

bool report_blamed(Desk& desk) {
  bool changed = false;
  for (const Regression& regression :
       storage::regressions_in_state(desk.db, RegressionState::blamed)) {
    if (!night_is_explained(desk, regression) || !boundary_is_profiled(desk, regression)) continue;
    queue_issue(desk, regression);
    changed = true;
  }
  return changed;
}

bool watch_recovery(Desk& desk) {
  bool changed = false;
  for (const Regression& regression :
       storage::regressions_in_state(desk.db, RegressionState::reported)) {
    const bool back = std::all_of(regression.series.begin(), regression.series.end(),
                                  [&](const AffectedSeries& affected) {
                                    return has_recovered(desk, affected, regression.night);
                                  });
    if (!back) continue;
    close(desk, regression);
    changed = true;
  }
  return changed;
}

}  // namespace nightjar::service
