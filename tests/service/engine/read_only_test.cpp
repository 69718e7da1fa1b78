// Loading and deciding never write: before every tick of a story, and after each of its events,
// each load and each decide runs on a connection that cannot.
#include <map>
#include <typeindex>

#include <catch2/catch.hpp>

#include "service/engine/jobs/claimable.hpp"
#include "service/engine/jobs/demand.hpp"
#include "service/engine/night/nights.hpp"
#include "service/engine/night/starting.hpp"
#include "service/engine/night/suites.hpp"
#include "service/engine/obstacles.hpp"
#include "service/engine/outcome/digests.hpp"
#include "service/engine/outcome/follow_up.hpp"
#include "service/engine/outcome/joined_findings.hpp"
#include "service/engine/outcome/reporting.hpp"
#include "service/engine/outcome/unattributed.hpp"
#include "service/engine/search/bisections.hpp"
#include "service/engine/search/blame.hpp"
#include "service/engine/search/commit_states.hpp"
#include "service/engine/search/fix_searches.hpp"
#include "service/engine/search/package_searches.hpp"
#include "service/engine/search/revival.hpp"
#include "service/engine/search/search_jobs.hpp"
#include "service/engine/trust/calibration.hpp"
#include "service/engine/trust/measured.hpp"
#include "service/engine/trust/replays.hpp"
#include "service/engine/trust/retention.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "service/engine/verdict/expected_results.hpp"
#include "service/engine/verdict/histories.hpp"
#include "storage/base/digest.hpp"
#include "storage/bisections.hpp"
#include "storage/calibration.hpp"
#include "storage/imports.hpp"
#include "tests/service/engine/locked_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::LockedWorld;

namespace {

// Counts the decisions that the read-only connection came to, by type.
struct ReadingWorld : LockedWorld {
  ReadingWorld()
      : LockedWorld(lock_with({{"numpy", "2.1.0"}, {"sympy", "1.13.3"}}),
                    lock_with({{"numpy", "2.2.0"}, {"sympy", "1.14.0"}})),
        reader(storage::Database::open_reader(restart())) {
    config.night.at = "07:00";
    config.calibration.share = .5;
    config.report.digest.on = all_of<Weekday>();
    config.report.fixes = 1;
    run_seconds = 1;
    noise = .01;
    before_tick = [this] {
      decide_all();
      check_all();
      decide_all();
    };
    on_event = [this] { decide_all(); };
  }

  // Sessions count once they are checked, which is a round's first step.
  void check_all() {
    EngineContext context = this->context();
    check_sessions(context);
  }

  template <class Step>
  void note(const Step&) {
    ++decided[typeid(Step)];
  }
  template <class... Steps>
  void note(const std::variant<Steps...>& step) {
    std::visit([this](const auto& taken) { note(taken); }, step);
  }
  template <class Step>
  void note(const std::optional<Step>& step) {
    if (step) note(*step);
  }
  template <class Step>
  int count() const {
    const auto found = decided.find(typeid(Step));
    return found == decided.end() ? 0 : found->second;
  }

  void decide_all() {
    const EngineView view{reader, graph, artifacts, config, clock};
    decide_nights(view);
    decide_queue(view);
    decide_rare(view);
    using enum RegressionState;
    for (const Regression& one : storage::regressions_in_state(reader, suspected))
      if (const auto lead = storage::find_series(reader, one.series.front().series))
        note(decide(load_confirmation(view, one, *lead), config));
    for (const Regression& one : next_to_search(load_waiting(view)))
      note(decide(load_opening(view, one), clock.now()));
    for (const SearchToRevive& seen : load_revivals(view)) note(decide(seen));
    for (const CommitState& state : states_of(view, commits_without_state(view))) note(state);
    decide_searches(view);
    for (const RegressionState state : {blamed, range})
      for (const Regression& one : storage::regressions_in_state(reader, state))
        note(decide(load_reporting(view, one)));
    for (const Regression& one : storage::regressions_in_state(reader, reported)) {
      note(decide(load_recovery(view, one), config));
      note(later_news(view, one));
    }
    for (const Job& asked : storage::unjudged_calibrations(reader))
      note(judge(load_case(view, asked), clock.now()));
    note(replay(load_replay(view), config));
    night_facts(view);
    missing_wheels(view);
  }

  void decide_queue(const EngineView& view) {
    for (const QueueStep& step : decide(load_queue(view), config)) note(step);
    note(decide(load_demand(reader, storage::all_runners(reader), clock.now()), config));
  }

  void decide_rare(const EngineView& view) {
    using enum RegressionState;
    for (const Regression& one : storage::regressions_in_state(reader, confirmed))
      if (waits_for_packages(reader, one))
        if (const auto facts = load_packages(view, one)) note(decide(*facts, config, clock.now()));
    for (const Regression& one : storage::regressions_in_state(reader, unattributed))
      note(decide(load_unattributed(view, one)));
    for (const UntoldCause& untold : load_untold(view)) note(decide(load_joined(view, untold)));
    for (const SeriesId id : storage::series_to_judge(reader, 9))
      note(decide(load_history(view, storage::find_series(reader, id).value())));
    note(service::measure(load_trust(reader, config)));
    note(decide(load_digest(view), config));
    for (const FixToSearch& fix : load_fixes_to_search(view)) note(decide(fix, clock.now()));
    for (const FixFacts& fix : load_fixes(view)) note(decide(fix, config));
    load_old_samples(view);
  }

  void decide_nights(const EngineView& view) {
    note(decide(load_schedule(view), config));
    const Assignment assignment = decide(load_assignment(view, config.source.variant), config);
    note(assignment.made);
    for (const JobId job : storage::unchecked_sessions(reader))
      if (const auto unchecked = load_unchecked(reader, job)) note(check(*unchecked));
    for (const Night& night : storage::open_nights(reader)) {
      if (night.state == NightState::measuring) note(decide(load_measuring(view, night), config));
      if (night.state == NightState::judging) note(decide(load_judging(view, night)));
    }
    for (const NightId over : storage::nights_to_sum_up(reader, 9))
      note(decide(load_suites(view, storage::find_night(reader, over).value())));
  }

  void decide_searches(const EngineView& view) {
    for (const Bisection& search : storage::open_bisections(reader)) {
      const auto facts = load_search(view, search);
      REQUIRE(facts);
      const auto next = decide(*facts);
      if (!next) continue;
      note(next->step);
      if (const auto* measure = std::get_if<bisect::Measure>(&next->step))
        note(plan_step(load_step(view, search, expecting(view, facts->series, NightId{1}),
                                 facts->prospects, facts->wheels, *measure),
                       facts->progress, clock.now()));
      const auto* regression = std::get_if<Regression>(&facts->of);
      if (const auto* answer = std::get_if<Conclude>(&next->step); answer && regression)
        for (const Blame& blame :
             decide(load_blame(view, *regression, search, answer->answer, facts->naming)))
          note(blame);
    }
  }

  storage::Database reader;
  std::map<std::type_index, int> decided;
};

}  // namespace

TEST_CASE("every load and every decide of a story from nightly to recovery runs without writing") {
  ReadingWorld world;
  bool slow = true;
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    return .010 * (slow && workload == alpha_eval && position >= 4 ? 1.3 : 1);
  };
  world.nightly("2026-08-19");
  world.settle();
  world.grow(6);
  world.nightly("2026-08-20");
  world.settle();
  REQUIRE(storage::regressions_in_state(world.reader, RegressionState::reported).size() == 1);
  slow = false;
  for (const char* date : {"2026-08-21", "2026-08-22", "2026-08-23", "2026-08-24"}) {
    world.clock.advance(std::chrono::hours(24));
    world.grow(1);
    world.nightly(date);
    world.settle();
  }
  REQUIRE(storage::regressions_in_state(world.reader, RegressionState::recovered).size() == 1);

  CHECK(world.count<StartNight>() > 0);
  CHECK(world.count<Night>() + world.count<StartNight>() >= 6);
  CHECK(world.count<Checked>() > 0);
  CHECK(world.count<PlanSessions>() > 0);
  CHECK(world.count<JudgeNight>() > 0);
  CHECK(world.count<CloseNight>() > 0);
  CHECK(world.count<SumUp>() > 0);
  CHECK(world.count<AskForSession>() > 0);
  CHECK(world.count<Confirm>() > 0);
  CHECK(world.count<OpenSearch>() > 0);
  CHECK(world.count<CommitState>() > 0);
  CHECK(world.count<bisect::Measure>() > 0);
  CHECK(world.count<StepPlan>() > 0);
  CHECK(world.count<Conclude>() > 0);
  CHECK(world.count<NameCulprit>() > 0);
  CHECK(world.count<AskForProfiles>() > 0);
  CHECK(world.count<OpenIssue>() > 0);
  CHECK(world.count<CloseIssue>() > 0);
  CHECK(world.count<OutboxMessage>() > 0);
  CHECK(world.count<CalibrationCase>() > 0);
  CHECK(world.count<FileDigest>() > 0);
  CHECK(world.count<PassOver>() > 0);
  CHECK(world.count<FileFix>() > 0);
}

TEST_CASE("the loads and decides of a search for a package run without writing") {
  ReadingWorld world;
  world.config.calibration.share = 0;
  world.of_packages = [&](const EnvironmentSpec& spec, const std::string& workload) {
    return workload == alpha_eval && world.version_in(spec, "sympy") == "1.14.0" ? 1.3 : 1;
  };
  world.pass();
  REQUIRE(storage::regressions_in_state(world.reader, RegressionState::reported).size() == 1);
  CHECK(world.count<AskPackages>() > 0);
  CHECK(world.count<AskForLocks>() > 0);
  CHECK(world.count<MeasureMixes>() > 0);
  CHECK(world.count<GetIssue>() > 0);
}

TEST_CASE("the loads and decides of an imported history run without writing") {
  ReadingWorld world;
  const MachineId elsewhere =
      storage::intern_machine(storage::Autocommit(world.db), machine_class({{"imported", "A100"}}))
          .id;
  for (int day = 0; day < 40; ++day) {
    HistoryNight night;
    night.measured_at = *parse_rfc3339("2026-01-01T07:00:00Z") + std::chrono::hours(24) * day;
    night.commit = CommitSha::parse(digest_of(std::to_string(day)).str().substr(0, 40));
    night.origin = "results";
    const double seconds = (1 + .002 * ((day * 7) % 5)) * (day < 25 ? .1 : .12);
    night.values = {{*WorkloadName::parse(alpha_eval), "latency", {seconds}}};
    storage::KnownSeries known;
    storage::write(world.db, [&](storage::Transaction& transaction) {
      storage::store_history(transaction, elsewhere, night, world.clock.now(), known);
    });
  }
  world.settle();
  CHECK(world.count<HistoryVerdict>() > 0);
  CHECK(storage::regressions_in_state(world.reader, RegressionState::historical).size() == 1);
}

TEST_CASE("a connection that only reads refuses a step that is applied") {
  ReadingWorld world;
  world.before_tick = world.on_event = nullptr;
  world.nightly("2026-08-19");
  EngineContext context = world.context();
  EngineContext reading{world.reader,   context.graph, context.artifacts,
                        context.config, context.clock, context.publish};
  CHECK_THROWS_AS(assign_builds(reading, true), storage::Error);
}
