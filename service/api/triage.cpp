// POST /regressions/{id}/dismiss, /confirm, /widen and /cause: what a person decides about a
// finding.
#include "bisect/evidence/evidence.hpp"
#include "service/api/routes.hpp"
#include "service/engine/search/widening.hpp"
#include "service/engine/search/withdrawal.hpp"
#include "service/engine/verdict/levels.hpp"
#include "service/report/report.hpp"
#include "storage/base/log.hpp"
#include "storage/base/markdown.hpp"
#include "storage/bisections.hpp"
#include "storage/marks.hpp"
#include "storage/outbox.hpp"
#include "storage/trust.hpp"

namespace nightjar::service::api {
namespace {

struct Dismissal {
  std::string reason;
  std::optional<bool> accept;
};
BOOST_DESCRIBE_STRUCT(Dismissal, (), (reason, accept))

struct Reason {
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(Reason, (), (reason))

struct WiderSearch {
  std::string reason;
  std::optional<int> nightlies;
  std::optional<BuildId> build;
  std::optional<CommitSha> commit;
  std::optional<int> more_runs, more_minutes;
  std::optional<double> threshold;
};
BOOST_DESCRIBE_STRUCT(WiderSearch, (),
                      (reason, nightlies, build, commit, more_runs, more_minutes, threshold))

struct CauseTold {
  std::string reason;
  std::optional<CommitSha> commit;
};
BOOST_DESCRIBE_STRUCT(CauseTold, (), (reason, commit))

Schema some_reason() {
  return reason_schema().with({{"minLength", 1}});
}

const Described<Dismissal>& dismissal() {
  static const auto made =
      aggregate<Dismissal>(
          "", "",
          {{"reason", "", some_reason()},
           {"accept",
            "The new level is right: each of its series starts over, so that no night finds it "
            "again. Default: false.",
            {},
            true}})
          .closed();
  return made;
}

const Described<WiderSearch>& wider_search() {
  static const auto made =
      aggregate<WiderSearch>(
          "", "",
          {{"reason", "", some_reason()},
           {"nightlies",
            "The search begins at the N-th nightly before the present good end. Without this, "
            "`build` and `commit` it keeps its range.",
            {{"minimum", 1}, {"maximum", 60}},
            true},
           {"build",
            "In place of `nightlies`: the good end, by its id.",
            {{"maximum", 9007199254740991}},
            true},
           {"commit", "In place of `nightlies`: a commit that has a wheel.", {}, true},
           {"more_runs",
            "Runs besides those that it has. Default: as configured for a search.",
            {{"minimum", 1}, {"maximum", 10000}},
            true},
           {"more_minutes",
            "Minutes of measuring, besides those spent. Default: as configured.",
            {{"minimum", 1}, {"maximum", 100000}},
            true},
           {"threshold",
            "The smallest change that a commit is blamed for, as a share; below the present one.",
            {{"minimum", .001}, {"maximum", 10}},
            true}})
          .closed();
  return made;
}

const Described<CauseTold>& cause_told() {
  static const auto made =
      aggregate<CauseTold>("", "",
                           {{"reason", "", some_reason()},
                            {"commit",
                             "The commit that did it. It tells whether the search named the right "
                             "one, which /api/v1/trust counts.",
                             {},
                             true}})
          .closed();
  return made;
}

const Described<Reason>& only_a_reason() {
  static const auto made = aggregate<Reason>("", "", {{"reason", "", some_reason()}}).closed();
  return made;
}

// A person's decision on one regression, and who that is.
struct Triage {
  storage::Transaction& transaction;
  Regression regression;
  std::string actor, reason;
  Time now{};

  [[noreturn]] void refuse(const std::string& why) const {
    throw Refused(409, "Not possible in its state",
                  "Regression " + std::to_string(regression.id.value) + " is " +
                      std::string(name_of(regression.state)) + ": " + why);
  }
  void change(RegressionState state, const std::string& what) {
    storage::change_regression(
        transaction, regression,
        {state, now, evidence::of_reason(what + " by " + actor + ": " + reason)});
  }
  void rule(RulingKind kind, const std::optional<CommitSha>& commit = std::nullopt) const {
    storage::set_ruling(transaction, {regression.id, kind, is_real(regression.state), commit, now});
  }
};

void end_search(Triage& triage) {
  auto search = storage::bisection_of(triage.transaction, triage.regression.id);
  if (!search || search->state != BisectionState::open) return;
  search->state = BisectionState::inconclusive;
  search->finished_at = triage.now;
  storage::update_bisection(triage.transaction, *search);
  for (const BisectionJob& entry : storage::jobs_of_bisection(triage.transaction, search->id))
    storage::cancel_job(triage.transaction, entry.job, "its regression was dismissed");
}

void accept_levels(Triage& triage) {
  for (const AffectedSeries& affected : triage.regression.series) {
    const auto series = storage::find_series(triage.transaction, affected.series);
    storage::Mark mark;
    mark.at = triage.now;
    mark.actor = triage.actor;
    mark.after_night = storage::newest_night(triage.transaction);
    mark.machine = series->machine;
    mark.workload = series->workload_name.str();
    mark.metric = series->metric;
    mark.reason = triage.reason;
    storage::add_mark(triage.transaction, mark);
  }
}

void dismiss(Triage& triage, bool accept) {
  using enum RegressionState;
  const RegressionState state = triage.regression.state;
  if (state == merged) triage.refuse("the regression that it was merged into can be dismissed.");
  if (lifecycle_of(state).progress == Progress::over) triage.refuse("it is over.");
  end_search(triage);
  if (accept) accept_levels(triage);
  withdraw_issue(triage.transaction, triage.regression.id,
                 "This was dismissed by a person: " + plain(triage.reason), triage.now,
                 "This was dismissed by a person: " + triage.reason);
  triage.rule(accept ? RulingKind::meant : RulingKind::no_regression);
  triage.change(dismissed, "dismissed");
}

void confirm_again(Triage& triage) {
  if (triage.regression.state != RegressionState::unconfirmed)
    triage.refuse("only one whose confirmation was cut short is measured again.");
  triage.regression.unfinished = 0;
  triage.change(RegressionState::unconfirmed, "the next night confirms it again, asked for");
}

void widen(Triage& triage, Context& context, const WiderSearch& asked) {
  const WideningAsked wanted{triage.actor, triage.reason,   asked.nightlies,    asked.build,
                             asked.commit, asked.more_runs, asked.more_minutes, asked.threshold};
  const EngineView view{triage.transaction, context.commits, context.artifacts, context.config,
                        context.clock};
  const WideningFacts facts = load_widening(view, triage.regression, wanted);
  const auto step = decide(facts, wanted, context.config, triage.now);
  if (const auto* no = std::get_if<CannotWiden>(&step)) {
    if (no->field.empty()) triage.refuse(no->reason);
    throw Refused(422, "The search cannot be widened so", no->reason,
                  {{"#/" + no->field, no->reason}});
  }
  apply(triage.transaction, std::get<Widen>(step));
}

void tell_cause(Triage& triage, const std::optional<CommitSha>& commit) {
  if (!has_issue(triage.transaction, triage.regression.id))
    triage.refuse("it has no issue in which the cause could be said.");
  const auto told = storage::messages_of(triage.transaction, triage.regression.id).size();
  OutboxMessage message;
  message.key = "cause:" + std::to_string(triage.regression.id.value) + ":" + std::to_string(told);
  message.regression = triage.regression.id;
  message.kind = OutboxKind::comment;
  message.body = "**The cause, as a person says**: " + plain(triage.reason) + "\n\n" +
                 (commit ? "It is commit " + commit->str() + ".\n\n" : "") +
                 marker_of(message.key) + "\n";
  message.created_at = triage.now;
  storage::add_message(triage.transaction, message);
  triage.rule(RulingKind::cause, commit);
}

// Does it in one transaction with its record, and answers the regression as it is now.
template <class Do>
web::Response triaged(storage::Database& db, Context& context, const web::Request& request,
                      const char* action, const std::string& reason, Do act) {
  const auto id = path_id<RegressionId>(request);
  const auto regression = storage::find_regression(db, id);
  if (!regression) refuse_unknown("regression", id.value);
  storage::Transaction transaction(db);
  Triage triage{transaction, *regression, actor_of(request.principal), reason, context.clock.now()};
  act(triage);
  storage::add_audit(
      transaction, {0, triage.now, triage.actor, action, "regression/" + std::to_string(id.value)});
  transaction.commit();
  log::info("regression triaged regression={} action={} by={}", id.value, action, triage.actor);
  const auto now = storage::find_regression(db, id);
  context.events.publish("regression", nlohmann::json{{"id", id}, {"state", now->state}}.dump());
  context.wake();
  Rows rows(db, &context);
  return json_answer(regression_detail().write(*now, rows));
}

constexpr Problem cannot_widen{422, "InvalidWidening",
                               "The good end or the threshold that was asked for does not fit; "
                               "detail says why."};
constexpr Problem other_state{409, "InvalidState",
                              "The regression's state does not allow it; detail says why."};

Operation triage_of(const char* what, const char* summary, const Schema& body,
                    std::vector<Problem> problems = {no_such_id, other_state}) {
  return {.path = std::string("/api/v1/regressions/{id}/") + what,
          .id = std::string(what) + "_regression",
          .summary = summary,
          .method = web::Method::post,
          .role = web::Role::admin,
          .body = Body{body},
          .answers = {{.text = "Done; this is the regression now.",
                       .schema = regression_detail().schema()}},
          .problems = std::move(problems)};
}

}  // namespace

void add_triage_routes(Routes& routes) {
  Context& context = routes.context;
  routes.write(triage_of("dismiss", "Say that a finding is none: its search and its issue end",
                         dismissal().schema()),
               [&context](storage::Database& db, const web::Request& request) {
                 const auto asked = parse_body(request, dismissal());
                 return triaged(
                     db, context, request, "dismiss-regression", asked.reason,
                     [&](Triage& triage) { dismiss(triage, asked.accept.value_or(false)); });
               });
  routes.write(triage_of("confirm",
                         "Measure a finding again whose confirmations were cut short: the next "
                         "night does",
                         only_a_reason().schema()),
               [&context](storage::Database& db, const web::Request& request) {
                 const auto asked = parse_body(request, only_a_reason());
                 return triaged(db, context, request, "confirm-regression", asked.reason,
                                confirm_again);
               });
  routes.write(
      triage_of("widen",
                "Take up a search again that ended without a culprit: with an older good end, with "
                "more runs, or for smaller changes",
                wider_search().schema(), {no_such_id, other_state, cannot_widen}),
      [&context](storage::Database& db, const web::Request& request) {
        const auto asked = parse_body(request, wider_search());
        return triaged(db, context, request, "widen-search", asked.reason,
                       [&](Triage& triage) { widen(triage, context, asked); });
      });
  routes.write(triage_of("cause", "Say the cause in the finding's issue", cause_told().schema()),
               [&context](storage::Database& db, const web::Request& request) {
                 const auto asked = parse_body(request, cause_told());
                 return triaged(db, context, request, "tell-cause", asked.reason,
                                [&](Triage& triage) { tell_cause(triage, asked.commit); });
               });
}

}  // namespace nightjar::service::api
