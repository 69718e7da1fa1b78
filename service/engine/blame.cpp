#include "service/engine/blame.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bisect/evidence/evidence.hpp"
#include "service/report/report.hpp"
#include "storage/builds.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

Culprit culprit_of(const bisect::NamedStep& step, const Bisection& bisection) {
  return {evidence::cell_commits(step.first, step.last, bisection.commits), step.probability, step.ratio,
          step.low, step.high};
}

void announce(Desk& desk, const Regression& regression, RegressionState state) {
  desk.publish("regression",
               nlohmann::json{{"id", regression.id.value}, {"state", name_of(state)}}.dump());
}

// A reported issue hears of the further series; an unreported one will name them itself.
void tell(Desk& desk, const Regression& known, const Regression& joining) {
  if (known.state != RegressionState::reported) return;
  const auto build = storage::find_build(desk.db, joining.bad);
  const auto night = storage::find_night(desk.db, joining.night);
  if (!build || !night) return;
  NightComment comment;
  comment.fingerprint = known.fingerprint;
  comment.version = build->version;
  comment.commit = build->commit;
  comment.date = to_date(night->started_at);
  for (const AffectedSeries& affected : joining.series) {
    const auto series = storage::find_series(desk.db, affected.series);
    if (series)
      comment.new_series.push_back({series->workload_name.str(), series->metric, affected.before,
                                    affected.after, affected.ratio, affected.low, affected.high});
  }
  OutboxMessage message;
  message.key = night_key(known.fingerprint, build->version + "/" +
                                                 std::to_string(joining.id.value));
  message.regression = known.id;
  message.kind = OutboxKind::comment;
  message.body = render_night_comment(comment) + "\n" + marker_of(message.key) + "\n";
  message.created_at = desk.clock.now();
  storage::add_message(desk.db, message);
}

// True if another regression has this cause; `regression` is merged into it then.
bool merge(Desk& desk, Regression regression, const std::string& evidence) {
  auto known = storage::find_regression(desk.db, regression.fingerprint);
  if (!known || known->id == regression.id || known->machine != regression.machine) return false;
  if (known->state != RegressionState::blamed && known->state != RegressionState::reported)
    return false;
  for (const AffectedSeries& series : regression.series) {
    const bool has = std::any_of(known->series.begin(), known->series.end(),
                                 [&](const auto& s) { return s.series == series.series; });
    if (!has) known->series.push_back(series);
  }
  storage::update_regression(desk.db, *known);
  tell(desk, *known, regression);
  regression.merged_into = known->id;
  regression.fingerprint.clear();
  storage::change_regression(desk.db, regression,
                             {RegressionState::merged, desk.clock.now(), evidence});
  announce(desk, regression, RegressionState::merged);
  return true;
}

void name(Desk& desk, Regression regression, const bisect::NamedStep& step,
          const Bisection& bisection, const std::string& evidence) {
  regression.culprit = culprit_of(step, bisection);
  regression.fingerprint = fingerprint_of(desk.config.repository.url, regression.culprit->commits, "");
  if (merge(desk, regression, evidence)) return;
  storage::change_regression(desk.db, regression,
                             {RegressionState::blamed, desk.clock.now(), evidence});
  announce(desk, regression, RegressionState::blamed);
}

}  // namespace

void blame(Desk& desk, const Regression& regression, const Bisection& bisection,
           const bisect::Answer& answer, const std::string& evidence) {
  int part = 0;
  for (const bisect::NamedStep& step : answer.culprits) {
    if (part == 0) {
      name(desk, regression, step, bisection, evidence);
    } else {
      Regression further = regression;
      further.id = {};
      further.part = part;
      further.opened_at = desk.clock.now();
      further = storage::add_regression(
          desk.db, further,
          {RegressionState::bisecting, desk.clock.now(),
           evidence::of_reason("a further culprit of the search for regression " +
                          std::to_string(regression.id.value))});
      name(desk, further, step, bisection, evidence);
    }
    ++part;
  }
}

}  // namespace nightjar::service
