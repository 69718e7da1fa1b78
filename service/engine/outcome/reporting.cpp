#include "service/engine/outcome/reporting.hpp"

#include <algorithm>

#include "bisect/evidence/evidence.hpp"
#include "service/engine/outcome/follow_up.hpp"
#include "service/engine/outcome/joined_findings.hpp"
#include "service/engine/outcome/repairs.hpp"
#include "service/engine/outcome/report_facts.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/search/withdrawal.hpp"
#include "service/engine/verdict/affected_series.hpp"
#include "service/engine/verdict/levels.hpp"
#include "service/report/exporter.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/model/json.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"
#include "storage/widening.hpp"

namespace nightjar::service {
namespace {

constexpr NightId ever{1ll << 60};
// A search that went on after its range was filed tells its end in the issue that is there.
const std::string went_on =
    "Builds of more commits became available, so the search went on. It says now:\n\n";
const std::string widened = "A person had the search taken up again. It says now:\n\n";

bool apply(EngineContext&, const Regression&, const AwaitExplanation&) {
  return false;
}

bool apply(EngineContext& context, const Regression&, const BoundaryStep& step) {
  apply(context, step);
  return !std::holds_alternative<AwaitProfiles>(step);
}

bool apply(EngineContext& context, const Regression& regression, const OpenIssue& step) {
  storage::Transaction transaction(context.db);
  storage::add_message(transaction, step.message);
  for (const auto& other : {step.chat, step.verdict})
    if (other) storage::add_message(transaction, *other);
  take_back_verdicts(transaction, regression.id, "the finding became another one",
                     step.message.created_at, step.verdict ? step.verdict->key : "");
  storage::set_classes_elsewhere(transaction, regression.id, step.classes);
  storage::change_regression(
      transaction, regression,
      {RegressionState::reported,
       step.message.created_at,
       {nlohmann::json{{"title", step.message.title}}.dump(), step.message.title}});
  transaction.commit();
  announce(context, regression, RegressionState::reported);
  return true;
}

bool has_recovered(const RecoveryFacts::SeriesLevels& one, int nights) {
  return static_cast<int>(one.later.size()) == nights &&
         std::all_of(one.later.begin(), one.later.end(), [&](const Level& level) {
           return is_back(worsening(one.series, one.affected.before, level.value), one.threshold);
         });
}

// Its newest accepted levels after the regression's night, newest first.
std::optional<RecoveryFacts::SeriesLevels> later_levels(const EngineView& view,
                                                        const AffectedSeries& affected,
                                                        NightId night) {
  const auto series = storage::find_series(view.db, affected.series);
  if (!series) return std::nullopt;
  std::vector<Level> levels =
      storage::levels_before(view.db, affected.series, ever, view.config.report.recovered_nights);
  std::erase_if(levels, [&](const Level& level) { return level.night <= night; });
  return RecoveryFacts::SeriesLevels{affected, *series, policy_of(*series, view.config).threshold,
                                     std::move(levels)};
}

// The build of the newest night before `night` that still showed the regression.
BuildId last_bad_build(const EngineView& view, const RecoveryFacts& facts, NightId night) {
  NightId newest = facts.regression.night;
  BuildId build = facts.regression.bad;
  for (const auto& [affected, series, threshold, later] : facts.series)
    for (const Level& level : storage::levels_before(view.db, affected.series, night, 1)) {
      const double cost = worsening(series, affected.before, level.value);
      if (level.night <= newest || is_back(cost, threshold)) continue;
      newest = level.night;
      build = level.build;
    }
  return build;
}

// All but what is_over() reads.
void add_comment(const EngineView& view, RecoveryFacts& facts) {
  RecoveredComment& comment = facts.comment;
  comment.fingerprint = facts.regression.fingerprint;
  comment.nights = view.config.report.recovered_nights;
  comment.repository = view.config.repository.url;
  std::vector<AffectedSeries> recovered;
  NightId since;  // the first night in which all were good again
  std::optional<Build> good_again;
  for (const auto& [affected, series, threshold, levels] : facts.series) {
    if (levels.empty()) continue;
    const double now = levels.front().value, ratio = ratio_of(series, affected.before, now);
    recovered.push_back({affected.series, affected.before, now, ratio, ratio, ratio});
    if (levels.back().night <= since) continue;
    since = levels.back().night;
    good_again = storage::find_build(view.db, levels.back().build);
  }
  comment.series = series_facts(view, recovered);
  if (!good_again) return;
  comment.version = good_again->version;
  comment.commit = good_again->commit;
  Repairers by =
      repairers_of(view, facts.regression, last_bad_build(view, facts, since), *good_again);
  comment.candidates = std::move(by.commits);
  comment.probability = by.probability;
}

bool is_over(const RecoveryFacts& facts, const Config& config) {
  return facts.series.size() == facts.regression.series.size() &&
         std::all_of(facts.series.begin(), facts.series.end(), [&](const auto& one) {
           return has_recovered(one, config.report.recovered_nights);
         });
}

void apply(EngineContext& context, const Regression& regression, const CloseIssue& step) {
  storage::Transaction transaction(context.db);
  storage::add_message(transaction, step.message);
  storage::change_regression(
      transaction, regression,
      {RegressionState::recovered, step.message.created_at,
       evidence::of_reason("every affected series has been back at its level for " +
                           std::to_string(context.config.report.recovered_nights) + " nights")});
  transaction.commit();
  announce(context, regression, RegressionState::recovered);
}

OutboxMessage told_elsewhere(const ReportingFacts& facts, OutboxKind kind, std::string key,
                             const std::string& title, std::string body) {
  OutboxMessage message;
  message.key = std::move(key);
  message.regression = facts.regression.id;
  message.kind = kind;
  message.title = title;
  message.body = std::move(body);
  message.created_at = facts.now;
  return message;
}

}  // namespace

bool may_be_named(const Regression& regression) {
  return lifecycle_of(regression.state).progress == Progress::running;
}

bool night_is_explained(const storage::Database& db, const Regression& regression) {
  const auto regressions = storage::regressions_of_night(db, regression.night);
  return std::none_of(regressions.begin(), regressions.end(), [&](const Regression& other) {
    return may_be_named(other) && other.machine == regression.machine;
  });
}

ReportingFacts load_reporting(const EngineView& view, const Regression& regression) {
  ReportingFacts facts;
  facts.regression = regression;
  facts.now = view.clock.now();
  // A finding without a named commit has no fingerprint until it is known in which issue it will
  // be.
  facts.explained = !regression.fingerprint.empty() && night_is_explained(view.db, regression);
  if (!facts.explained) return facts;
  facts.boundary = load_boundary(view, regression);
  if (!std::holds_alternative<ProfilesDone>(decide(facts.boundary))) return facts;
  facts.issue = report_facts(view, regression);
  facts.is_filed = has_issue(view.db, regression.id);
  facts.tells_chat = view.config.chat.is_on();
  if (view.config.exported.is_on())
    facts.records = verdict_records(*facts.issue, view.config.exported, facts.now);
  facts.times_taken_back = times_taken_back(view.db, regression.id);
  const auto search = storage::search_behind(view.db, regression.id);
  facts.is_widened = search && !storage::widening_history(view.db, search->id).empty();
  return facts;
}

ReportingStep decide(const ReportingFacts& facts) {
  if (!facts.explained) return AwaitExplanation{};
  if (!facts.issue) return decide(facts.boundary);
  const RenderedIssue issue = render_issue(*facts.issue, comment_limit);
  OpenIssue step;
  step.message.key = issue_key(facts.regression.fingerprint);
  step.message.regression = facts.regression.id;
  step.message.kind = facts.is_filed ? OutboxKind::comment : OutboxKind::open_issue;
  step.message.title = issue.title;
  const std::string& why = facts.is_widened ? widened : went_on;
  step.message.body = facts.is_filed ? why + issue.body : issue.body;
  step.message.commands = issue.commands;
  step.message.created_at = facts.now;
  for (const ReportClass& one : facts.issue->classes)
    if (one.found.state != ClassState::seen) step.classes.push_back(one.found);
  const std::string& fingerprint = facts.regression.fingerprint;
  if (facts.tells_chat && !facts.is_filed)
    step.chat = told_elsewhere(facts, OutboxKind::chat, chat_key(fingerprint), issue.title,
                               facts.issue->details_url);
  if (!facts.records.empty())
    step.verdict =
        told_elsewhere(facts, OutboxKind::verdict,
                       verdict_key(fingerprint, facts.regression.id, facts.times_taken_back),
                       issue.title, facts.records);
  return step;
}

bool report_blamed(EngineContext& context) {
  bool changed = false;
  const auto report = [&](const Regression& regression) {
    const ReportingStep step = decide(load_reporting(context, regression));
    return std::visit([&](const auto& taken) { return apply(context, regression, taken); }, step);
  };
  for (const RegressionState state :
       {RegressionState::blamed, RegressionState::range, RegressionState::unattributed})
    changed |= for_each_item(context, "report of regression",
                             storage::regressions_in_state(context.db, state), report);
  return changed;
}

RecoveryFacts load_recovery(const EngineView& view, const Regression& regression) {
  RecoveryFacts facts{regression, view.clock.now(), {}, false, {}};
  for (const AffectedSeries& affected : regression.series)
    if (auto levels = later_levels(view, affected, regression.night))
      facts.series.push_back(*std::move(levels));
  if (!is_over(facts, view.config)) return facts;
  facts.has_untold = has_untold(view, regression.id);
  add_comment(view, facts);
  return facts;
}

std::optional<CloseIssue> decide(const RecoveryFacts& facts, const Config& config) {
  if (facts.has_untold || !is_over(facts, config)) return std::nullopt;
  OutboxMessage message;
  message.key = recovered_key(facts.regression.fingerprint, facts.comment.version);
  message.body = render_recovered_comment(facts.comment);
  message.regression = facts.regression.id;
  message.kind = OutboxKind::close_issue;
  message.created_at = facts.now;
  return CloseIssue{std::move(message)};
}

bool watch_recovery(EngineContext& context) {
  const auto watch = [&](const Regression& regression) {
    const auto step = decide(load_recovery(context, regression), context.config);
    if (step) apply(context, regression, *step);
    return step.has_value();
  };
  return for_each_item(context, "recovery of regression",
                       storage::regressions_in_state(context.db, RegressionState::reported), watch);
}

}  // namespace nightjar::service
