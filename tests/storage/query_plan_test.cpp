#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "storage/affected_classes.hpp"
#include "storage/calibration.hpp"
#include "storage/ci_lookups.hpp"
#include "storage/confirmations.hpp"
#include "storage/digests.hpp"
#include "storage/filtered.hpp"
#include "storage/fixes.hpp"
#include "storage/imports.hpp"
#include "storage/jobs.hpp"
#include "storage/many_series.hpp"
#include "storage/marks.hpp"
#include "storage/own_sessions.hpp"
#include "storage/package_searches.hpp"
#include "storage/profiles.hpp"
#include "storage/provenance.hpp"
#include "storage/references.hpp"
#include "storage/replays.hpp"
#include "storage/retention.hpp"
#include "storage/series_history.hpp"
#include "storage/served.hpp"
#include "storage/session_counts.hpp"
#include "storage/sessions.hpp"
#include "storage/statement.hpp"
#include "storage/suites.hpp"
#include "storage/tokens.hpp"
#include "storage/trust.hpp"
#include "storage/untold_findings.hpp"
#include "storage/widening.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

// Asks everything that this room answers, so that every statement is in the connection's cache.
void ask_everything(Story& story) {
  Database& db = story.db;
  const Regression regression = story.suspect();
  const SeriesId series = story.latency().id;
  const JobId job = find_job(db, JobId{1})->id;
  last_job_with_key(db, "profile/");
  Bisection bisection;
  bisection.regression = regression.id;
  bisection.series = series;
  bisection.good = story.good.id;
  bisection.bad = story.bad.id;
  bisection = add_bisection(Autocommit(db), bisection);
  update_bisection(Autocommit(db), bisection);
  change_regression(Autocommit(db), regression, {RegressionState::confirmed, at(30), "{}"});
  update_regression(Autocommit(db), regression);
  update_build(Autocommit(db), story.good);
  update_night(Autocommit(db), story.night);

  add_provenance(Autocommit(db), Provenance{sha256('7'), "setuptools", {"cp311"}, {"GCC 13"}});
  find_provenance(db, sha256('7')), builds_without_provenance(db);
  recipe_of_build(db, story.good.id);
  builds_in_state(db, BuildState::found), newest_proved(db, "cpu"), list_builds(db, {50, 9});
  CiLookup lookup{.commit = commit('a'), .variant = "cpu"};
  lookup = want_ci_wheel(Autocommit(db), lookup);
  note_ci_look(Autocommit(db), lookup);
  next_ci_lookup(db, {"cpu"}, at(0)), ci_builds_of_open_searches(db), list_ci_lookups(db, {50, 9});
  find_machine(db, story.machine.id), find_runner(db, story.runner.id), all_runners(db);
  count_runners(db), live_runners(db, at(0), story.machine.id), runners_of_token(db, "x", at(0));
  touch_runner(Autocommit(db), story.runner.id, at(0)), find_workload(db, story.workload.id);
  find_night(db, story.night.id), find_night_of_build(db, story.bad.id), open_nights(db);
  waiting_night(db, NightTrigger::api), unclaimed_night(db, story.bad.id), find_runner(db, "alpha");
  return_jobs(Autocommit(db), story.runner.id),
      cancel_jobs_of_night(Autocommit(db), story.night.id, "x");
  list_nights(db, {50, 9}), list_audit(db, {50, 9}), get_note(db, "a"),
      set_note(Autocommit(db), "a", "b");
  values_elsewhere(db, series, story.good.id, job);
  void_nights_before(db, story.machine.id, story.night.id, 2);
  jobs_of_night(db, story.night.id, JobKind::screen), unchecked_sessions(db);
  awaits_earlier_session(db, *find_job(db, job));
  find_check(db, job), readings_of(db, job);
  controls_before(db, job, 14);
  has_open_screening(db, story.night.id), repeats_of(db, job), count_jobs(db),
      count_jobs_of_night(db, story.night.id);
  list_jobs(db, {}, {50, 9}), list_jobs(db, {JobState::queued}, {50, 9});
  list_jobs(db, {{}, NightId{1}}, {50, 9}), list_jobs(db, {{}, {}, story.machine.id}, {50, 9});
  list_jobs(db, {{}, {}, {}, "cpu"}, {50, 9}), list_jobs(db, {{}, {}, {}, {}, FactsId{1}}, {});
  renew_lease(Autocommit(db), job, 1, at(0)), release_job(Autocommit(db), job, 1),
      expire_leases(Autocommit(db), at(0));
  waiting_jobs(db), note_unclaimable(Autocommit(db), job, at(0)),
      drop_affinity(Autocommit(db), job), forget_unclaimable(Autocommit(db));
  follow_clock(Autocommit(db), {at(0), std::chrono::seconds(60), std::chrono::seconds(60)});
  put_off_job(Autocommit(db), job, 1, "x", at(0)), fail_queued_job(Autocommit(db), job, "x");
  cancel_job(Autocommit(db), job, "x"), fail_job(Autocommit(db), job, 1, "x"), session_of(db, job);
  find_series(db, series), series_of_night(db, story.night.id), runs_of_job(db, series, job);
  runs_of_series(db, series, story.night.id, JobKind::screen), points_of_series(db, series, 9);
  runs_of_build(db, series, story.bad.id, story.night.id, JobKind::screen);
  series_measured_in(db, story.night.id, JobKind::screen), newest_values(db, {series}, 9);
  series_measured_in(db, story.night.id, JobKind::screen, "latency");
  points_of_builds(db, {series}, builds_measured_on(db, story.machine.id));
  newest_failure(db, story.workload.id, story.bad.id, story.machine.id);
  newest_run(db), measured_since(db, RunId{1}, {story.night.id});
  regressions_by_series(db, {RegressionState::blamed});
  newest_levels(db, {series}, NightId{9}, 9), better_since(db, {series}, NightId{9});
  last_regressions(db, {RegressionState::blamed}, NightId{9}), last_marked(db, {story.latency()});
  list_series(db, {"latency", {"**"}, story.machine.id, "cpu"}, {}), find_run(db, RunId{1});
  list_runs(db, {}, {50, 9}), list_runs(db, {job, {}, {}}, {50, 9});
  list_runs(db, {{}, story.good.id, {}}, {50, 9});
  list_runs(db, {{}, {}, story.workload.id}, {50, 9});
  set_level(Autocommit(db), {series, story.bad.id, story.night.id, 1, 1});
  levels_before(db, series, NightId{9}, 9), last_level_up_to(db, series, 1, {}, NightId{9});
  checksums_of(db, story.night.id, story.machine.id, story.workload.id, story.good.id);
  why_all_ended(db, story.night.id, RunStatus::unavailable), values_of_run(db, RunId{1});
  sessions_with_old_samples(db, at(9), 9), drop_samples(Autocommit(db), job, at(9));
  facts_of_sessions(db, story.night.id, story.machine.id), facts_of_job(db, job);
  find_listed_job(db, job), list_profiled(db, {"**"}, {50, 9});
  facts_of_machine(db, story.machine.id), find_facts(db, FactsId{1});
  last_night_on(db, story.machine.id, NightId{9});
  find_regression(db, "x"), find_regression(db, regression.id), changes_of(db, regression.id);
  regressions_in_state(db, RegressionState::blamed), count_regressions(db),
      regressions_of_night(db, story.night.id), merged_into(db, regression.id);
  list_regressions(db, {RegressionState::blamed, "latency", {"**"}, at(0), commit('a')}, {50, 9});
  list_regressions(db, {{}, {}, {}, {}, {}, story.machine.id, at(0), 7}, {50, 9});
  RegressionFilter several;
  several.states = {RegressionState::blamed, RegressionState::range};
  several.commits = blamed_commits(db);
  several.series = series;
  list_regressions(db, several, {50, 9});
  commits_beginning_with(db, "abcd", 7), builds_called(db, "2.", 7);
  set_classes_elsewhere(Autocommit(db), regression.id, {{.machine = story.machine.id}});
  affected_classes(db, regression.id);
  add_untold(Autocommit(db), {regression.id, at(9)}), untold_findings(db);
  remove_untold(Autocommit(db), regression.id);
  PackageSearch among;
  among.regression = regression.id, among.series = series, among.wheel = story.good.id;
  among = add_package_search(Autocommit(db), among);
  update_package_search(Autocommit(db), among), find_package_search(db, among.id);
  package_searches_of(db, regression.id), open_package_searches(db);
  add_package_job(Autocommit(db), among.id, {job, 0}), jobs_of_package_search(db, among.id);
  end_package_searches(Autocommit(db), regression.id, at(9));
  packages_are_searched(db, regression.id), pin_moves_of(db, regression.id);
  set_pin_moves(Autocommit(db), regression.id, {{commit('a'), "requirements.txt"}});
  find_bisection(db, bisection.id), open_bisections(db), list_bisections(db, {50, 9});
  jobs_of_bisection(db, bisection.id), untestable_of(db, bisection.id);
  Widening widening;
  widening.bisection = bisection.id, widening.good = story.good.id;
  add_widening(Autocommit(db), widening), widening_history(db, bisection.id);
  FixSearch better;
  better.night = story.night.id, better.machine = story.machine.id, better.before = story.good.id;
  better.build = story.bad.id, better.series = series;
  better = add_fix_search(Autocommit(db), better), find_fix_search(db, better.id);
  better.evidence = "{}", better.causes = {{{{commit('a')}, 1, 1, 1, 1}, false}};
  end_fix_search(Autocommit(db), better), fix_search_of(db, better.build, better.machine);
  bisection_of(db, better.id);
  bases_of_open_searches(db), overlays_of_commit(db, commit('a'), "cpu"), proved_wheels(db, "cpu");
  const auto state = find_commit_state(db, commit('a'), 1);
  const CommitState any{commit('a'), 1, *Sha256::parse(std::string(64, 'a')),
                        *Sha256::parse(std::string(64, 'b'))};
  commits_with_wheels(db, "cpu", 1, at(0));
  add_commit_state(Autocommit(db), state.value_or(any)), wheels_of_native_group(db, "cpu", any);
  wheels_of_same_libraries(db, "cpu", any), remove_untestable(Autocommit(db), bisection.id, 1);
  jobs_of_comparison(
      db, {story.night.id, story.machine.id, story.workload.id, story.good.id, story.bad.id, 1});
  calibration_budget(db, story.machine.id), replays_are_queued(db, story.night.id);
  queue_replays(Autocommit(db), story.night.id, {series}), next_replay(db, story.night.id);
  dequeue_replay(Autocommit(db), story.night.id, series);
  count_judged(Autocommit(db), {story.machine.id, "latency", at(0), 1, 9, 1, 0, {}});
  count_dismissed(Autocommit(db), series, at(9)), judged_so_far(db), confirmed_findings(db);
  set_ruling(Autocommit(db), {regression.id, RulingKind::meant, true, {}, at(9)});
  known_cases(db), predictions_of_replays(db), predictions_with_ruling(db);
  KnownSeries known;
  const HistoryNight history{at(0), "", commit('a'), "x", {{story.workload.name, "latency", {1}}}};
  const auto elsewhere = intern_machine(Autocommit(db), {{}, sha256('7'), {{"imported", "x"}}}).id;
  store_history(Autocommit(db), elsewhere, history, at(0), known);
  imported_classes(db), series_to_judge(db, 9), note_judged(Autocommit(db), series);
  imported_nights(db, story.machine.id), findings_of_history(db, series);
  nights_to_sum_up(db, 9), suite_runs(db, story.night.id);
  suites_before(db, {story.machine.id, "cpu", "s", "eval", "cpu", "fp32", "inductor"}, at(9),
                story.night.id, 9);
  SummedSuite suite;
  suite.summary.night = story.night.id;
  suite.summary.key.machine = story.machine.id;
  suite.summary.models = 1;
  suite.members.emplace_back().workload = story.workload.id;
  suite.summary.means = {{.value = 1, .members = 1, .members_sha256 = sha256('a')}};
  store_suites(Autocommit(db), story.night.id, {suite});
  list_builds(db, {BuildKind::nightly, BuildState::found, "2026-08-20", "abcd"}, {50, 9});
  list_nights(db, {NightState::done, story.bad.id, at(0)}, {50, 9});
  list_improvements(
      db, {at(0), "latency", {"**"}, story.machine.id, CommitSha::parse(std::string(40, 'a'))},
      {50, 9});
  list_bisections(db, {BisectionState::open, {"**"}}, {50, 9}), count_sessions(db, story.night.id);
  session_time(db, story.night.id);
  history_of_series(db, story.latency());
  list_suites(db, {}, {50, 9});
  list_suites(db,
              {story.night.id, story.machine.id, at(0), "s", "eval", "cpu", "fp32", "inductor",
               SuiteVerdict::worse},
              {50, 9});
  find_suite(db, SuiteId{1}), list_members(db, {}, {50, 9});
  list_members(db, {SuiteId{1}, story.night.id, {"**"}}, {50, 9});
  clear_levels(Autocommit(db), series), improvements_of(db, series);
  delete_improvement(Autocommit(db), 1), newest_measured_night(db);
  add_digest(Autocommit(db), {at(0), at(9)}, {}, at(9)), has_digest(db, at(9));
  last_digest_before(db, at(9)), first_night_began(db), untold_fixes(db, at(0), 1);
  OutboxMessage fix;
  fix.key = "fix:1";
  add_fix_report(Autocommit(db), story.bad.id, fix);
  measured_build(db, "x"), newest_measured(db, "cpu", at(9));
  pending_messages(db, at(0)), messages_of(db, regression.id), list_messages(db, {50, 9});
  list_messages(db, {50, 9}, OutboxState::failed);
  const auto enrolment =
      add_enrolment(Autocommit(db), {{}, sha256('e'), "", "token:ops", at(0), at(9), {}, {}});
  find_enrolment(db, enrolment.id), find_enrolment(db, enrolment.sha256);
  use_enrolment(Autocommit(db), enrolment.id, at(0)),
      revoke_enrolment(Autocommit(db), enrolment.id, at(0)), list_enrolments(db, {50, 9});
  const auto token =
      add_runner_token(Autocommit(db), {{}, sha256('f'), "alpha", enrolment.id, at(0), {}, {}, {}});
  find_runner_token(db, token.id), find_runner_token(db, token.sha256);
  accepted_runner_tokens(db, at(0)), accepted_runner_tokens(db, "alpha", at(0));
  note_first_use(Autocommit(db), token, at(0), std::chrono::seconds(1));
  revoke_unused_successors(Autocommit(db), token, at(0)), list_runner_tokens(db, {50, 9});
  revoke_runner_tokens(Autocommit(db), "alpha", at(0));
}

// Reads of a whole table that stay small, or that end with the page.
bool is_cheap_scan(const std::string& sql, const std::string& detail) {
  if (sql.find(" LIMIT ") != std::string::npos && sql.find("DESC") != std::string::npos)
    return true;
  if (detail.find(" INDEX ") != std::string::npos) return true;
  return detail == "SCAN runner" || detail == "SCAN judged" || detail == "SCAN mark" ||
         detail == "SCAN workload" || detail == "SCAN sqlite_master" ||
         detail == "SCAN CONSTANT ROW" || detail.starts_with("SCAN told") ||
         detail.starts_with("SCAN json_each") || detail.starts_with("SCAN newest") ||
         detail == "SCAN untold" || detail == "SCAN untold_finding" ||
         detail == "SCAN unchecked_session";
}

}  // namespace

TEST_CASE("a claim goes through its class's queue in order, and sorts nothing") {
  Story story;
  ask_everything(story);
  int claims = 0;
  for (const auto& [sql, statements] : story.db.impl().idle) {
    if (sql.find("WHERE state = 'queued' AND machine = ?1") == std::string::npos) continue;
    ++claims;
    std::string whole;
    Statement plan(story.db.impl(), "EXPLAIN QUERY PLAN " + sql);
    while (plan.step()) {
      plan.skip(3);
      whole += plan.next<std::string>() + "\n";
    }
    INFO(whole);
    CHECK(whole.find("SEARCH job USING INDEX job_to_claim (machine=?)") != std::string::npos);
    CHECK(whole.find("TEMP B-TREE") == std::string::npos);
  }
  CHECK(claims == 1);
}

TEST_CASE("no statement reads a table from end to end") {
  Story story;
  ask_everything(story);
  std::vector<std::string> asked;
  for (const auto& [sql, statements] : story.db.impl().idle)
    for (const char* verb : {"SELECT", "UPDATE", "DELETE", "WITH"})
      if (sql.starts_with(verb)) asked.push_back(sql);
  CHECK(asked.size() > 70);
  for (const std::string& sql : asked) {
    Statement plan(story.db.impl(), "EXPLAIN QUERY PLAN " + sql);
    while (plan.step()) {
      plan.skip(3);
      const auto detail = plan.next<std::string>();
      INFO(sql << ": " << detail);
      CHECK((!detail.starts_with("SCAN") || is_cheap_scan(sql, detail)));
    }
  }
}

// The lists that a person filters may be: each is one page.
TEST_CASE("no statement of the engine is prepared again at each run") {
  Story story;
  ask_everything(story);
  for (const auto& [sql, statements] : story.db.impl().idle)
    if (sql.find(" LIMIT ") == std::string::npos && sql.find("PRAGMA") == std::string::npos &&
        sql.find(" FROM pragma_") == std::string::npos &&
        sql.find("sqlite_master") == std::string::npos)
      for (sqlite3_stmt* statement : statements) {
        INFO(sql);
        CHECK(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0) == 0);
      }
}
