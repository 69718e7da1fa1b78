#include "service/engine/search/blame.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bisect/evidence/contributors.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/engine/outcome/report_facts.hpp"
#include "service/report/report.hpp"
#include "storage/builds.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"

namespace nightjar::service {
namespace {

Culprit culprit_of(const bisect::NamedStep& step, const Bisection& bisection) {
  return {evidence::cell_commits(step.first, step.last, bisection.commits), step.probability,
          step.ratio, step.low, step.high};
}

Culprit together(const std::vector<bisect::NamedStep>& steps, const Bisection& bisection) {
  std::vector<Culprit> contributors;
  for (const bisect::NamedStep& step : steps) contributors.push_back(culprit_of(step, bisection));
  return evidence::together(contributors);
}

void announce(EngineContext& context, const Regression& regression, RegressionState state) {
  context.publish("regression",
                  nlohmann::json{{"id", regression.id.value}, {"state", name_of(state)}}.dump());
}

// A reported issue hears of the further series; an unreported one will name them itself.
void tell(EngineContext& context, storage::Transaction& transaction, const Regression& known,
          const Regression& joining) {
  if (known.state != RegressionState::reported) return;
  const auto build = storage::find_build(context.db, joining.bad);
  const auto night = storage::find_night(context.db, joining.night);
  if (!build || !night) return;
  NightComment comment;
  comment.fingerprint = known.fingerprint;
  comment.version = build->version;
  comment.commit = build->commit;
  comment.date = to_date(night->started_at);
  comment.new_series = series_facts(context, joining.series, known.machine);
  OutboxMessage message;
  message.key =
      night_key(known.fingerprint, build->version + "/" + std::to_string(joining.id.value));
  message.regression = known.id;
  message.kind = OutboxKind::comment;
  message.body = render_night_comment(comment) + "\n" + marker_of(message.key) + "\n";
  message.created_at = context.clock.now();
  storage::add_message(transaction, message);
}

// True if another regression has this cause, on whatever machine class; `regression` is merged into
// it then. One that had recovered is open again: its issue is the only one that this cause has.
bool merge(EngineContext& context, storage::Transaction& transaction, Regression regression,
           const std::string& evidence) {
  auto known = storage::find_regression(context.db, regression.fingerprint);
  if (!known || known->id == regression.id) return false;
  using enum RegressionState;
  if (known->state != blamed && known->state != reported && known->state != recovered) return false;
  for (const AffectedSeries& series : regression.series) {
    const bool has = std::any_of(known->series.begin(), known->series.end(),
                                 [&](const auto& s) { return s.series == series.series; });
    if (!has) known->series.push_back(series);
  }
  if (known->state == recovered) {
    known->state = reported;
    storage::change_regression(
        transaction, *known,
        {reported, context.clock.now(),
         evidence::of_reason("shown again by regression " + std::to_string(regression.id.value))});
    announce(context, *known, reported);
  } else {
    storage::update_regression(transaction, *known);
  }
  tell(context, transaction, *known, regression);
  regression.merged_into = known->id;
  regression.fingerprint.clear();
  storage::change_regression(transaction, regression,
                             {RegressionState::merged, context.clock.now(), evidence});
  announce(context, regression, RegressionState::merged);
  return true;
}

void name(EngineContext& context, storage::Transaction& transaction, Regression regression,
          const Culprit& culprit, const std::string& evidence) {
  regression.culprit = culprit;
  regression.fingerprint = fingerprint_of(context.config.repository.url, culprit.commits);
  if (merge(context, transaction, regression, evidence)) return;
  storage::change_regression(transaction, regression,
                             {RegressionState::blamed, context.clock.now(), evidence});
  announce(context, regression, RegressionState::blamed);
}

}  // namespace

void blame(EngineContext& context, storage::Transaction& transaction, const Regression& regression,
           const Bisection& bisection, const bisect::Answer& answer, const std::string& evidence) {
  if (answer.outcome == bisect::SearchOutcome::several_small) {
    name(context, transaction, regression, together(answer.culprits, bisection), evidence);
    return;
  }
  int part = 0;
  for (const bisect::NamedStep& step : answer.culprits) {
    if (part == 0) {
      name(context, transaction, regression, culprit_of(step, bisection), evidence);
    } else {
      Regression further = regression;
      further.id = {};
      further.part = part;
      further.found_by = FoundBy::search;
      further.opened_at = context.clock.now();
      further = storage::add_regression(
          transaction, further,
          {RegressionState::bisecting, context.clock.now(),
           evidence::of_reason("a further culprit of the search for regression " +
                               std::to_string(regression.id.value))});
      name(context, transaction, further, culprit_of(step, bisection), evidence);
    }
    ++part;
  }
}

}  // namespace nightjar::service
