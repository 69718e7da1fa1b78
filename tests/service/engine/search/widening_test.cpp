// A search that ended without a culprit is taken up again because a person asks for it.
#include "service/engine/search/widening.hpp"

#include <catch2/catch.hpp>

#include "bisect/evidence/evidence.hpp"
#include "tests/service/engine/locked_world.hpp"
#include "tests/service/engine/search/day.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::Day;
using service::test::LockedWorld;
using service::test::NightWorld;

namespace {

WideningAsked asked() {
  return {"token:ops", "the good end was slow already"};
}

std::variant<CannotWiden, Widen> ask(NightWorld& world, const WideningAsked& wanted) {
  const EngineContext context = world.context();
  const Bisection search = storage::list_bisections(world.db, {}).items.at(0);
  const Regression regression = *storage::find_regression(world.db, *search.regression);
  return decide(load_widening(context, regression, wanted), wanted, world.config,
                world.clock.now());
}

std::string refusal(NightWorld& world, const WideningAsked& wanted) {
  const auto step = ask(world, wanted);
  REQUIRE(std::holds_alternative<CannotWiden>(step));
  return std::get<CannotWiden>(step).reason;
}

void widen(NightWorld& world, const WideningAsked& wanted) {
  const auto step = ask(world, wanted);
  if (const auto* no = std::get_if<CannotWiden>(&step)) FAIL(no->reason);
  storage::write(world.db, [&](storage::Transaction& transaction) {
    apply(transaction, std::get<Widen>(step));
  });
}

// Three nightlies; alpha is slower from `step` on, and the search spends its minutes in vain.
struct Spent : Day {
  int first = 0;  // position of the first nightly

  explicit Spent(int step) {
    run_seconds = 60;
    config.search_minutes = std::chrono::minutes(10);
    config.chat.url_file = "not read here";
    level = [step](int position, const std::string& workload, const std::string& metric) {
      const double usual = metric == "latency" ? .010 : 3e8;
      return usual * (workload == alpha_eval && metric == "latency" && position >= step ? 1.4 : 1);
    };
    nightly("2026-08-18");
    settle();
    grow(12);
    nightly("2026-08-19");
    settle();
    grow(24);
    nightly("2026-08-20");
    settle();
    REQUIRE(search().state == BisectionState::inconclusive);
    REQUIRE(regression().state == RegressionState::reported);
  }
};

}  // namespace

TEST_CASE("a search that has spent its minutes goes on with more of them, and names the commit") {
  Spent world(29);
  const Bisection before = world.search();
  WideningAsked wanted = asked();
  wanted.more_minutes = 6000;
  widen(world, wanted);
  CHECK(world.regression().state == RegressionState::bisecting);
  world.settle();
  const Bisection after = world.search();
  CHECK(after.id == before.id);
  CHECK(after.state == BisectionState::culprit);
  CHECK(after.commits == before.commits);
  CHECK(after.runs >= before.runs);
  REQUIRE(world.regression().culprit);
  CHECK(world.regression().culprit->commits == std::vector{world.commits[29]});
  CHECK(world.regression().state == RegressionState::reported);
  const auto kept = storage::widening_history(world.db, after.id);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].outcome == BisectionState::inconclusive);
  CHECK(kept[0].posterior == evidence::posterior_json(before.posterior, before.commits));
  CHECK(kept[0].runs == before.runs);
  CHECK(kept[0].finished_at == before.finished_at);
  // In the issue that is there; the chat has heard of the finding.
  const auto messages = world.messages();
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].kind == OutboxKind::open_issue);
  CHECK(messages[1].kind == OutboxKind::chat);
  CHECK(messages[1].title == messages[0].title);
  CHECK(messages[2].kind == OutboxKind::comment);
  CHECK(messages[2].body.starts_with("A person had the search taken up again. It says now:"));
}

TEST_CASE("a wider search begins at an older nightly, and keeps the runs that it has") {
  Spent world(29);
  const Bisection before = world.search();
  const auto log_of = [&] {
    return load_runs(world.db, world.search(), world.regression(),
                     *storage::find_series(world.db, before.series));
  };
  const SearchRuns old_log = log_of();
  WideningAsked wanted = asked();
  wanted.nightlies = 1;
  wanted.more_minutes = 6000;
  widen(world, wanted);

  const Bisection wider = world.search();
  CHECK(wider.state == BisectionState::open);
  CHECK(wider.commits == world.between(0, 36));
  CHECK(storage::find_build(world.db, wider.good)->date == "2026-08-18");
  CHECK(storage::find_build(world.db, world.regression().good)->date == "2026-08-19");
  const SearchRuns log = log_of();
  REQUIRE(log.runs == old_log.runs);
  for (std::size_t i = 0; i < log.log.runs.size(); ++i)
    CHECK(log.log.runs[i].commit == old_log.log.runs[i].commit + 12);

  world.settle();
  CHECK(world.search().state == BisectionState::culprit);
  CHECK(world.regression().culprit->commits == std::vector{world.commits[29]});
  CHECK(world.search().runs > before.runs);
  CHECK(log_of().builds.at(0) == wider.good);
  const auto changes = storage::changes_of(world.db, world.regression().id);
  const bool told = std::any_of(changes.begin(), changes.end(), [](const auto& change) {
    return change.evidence.text.find(
               "the search goes on from 2.14.0.dev20260818+cpu on, 12 commits "
               "more") != std::string::npos;
  });
  CHECK(told);
}

TEST_CASE("a wider search that is killed goes on where it was") {
  Spent world(29);
  WideningAsked wanted = asked();
  wanted.nightlies = 1;
  wanted.more_minutes = 6000;
  widen(world, wanted);
  world.restart();
  world.settle();
  CHECK(world.search().state == BisectionState::culprit);
  CHECK(world.regression().culprit->commits == std::vector{world.commits[29]});
}

TEST_CASE("commits that cannot be measured keep their reasons in a wider range") {
  Spent world(29);
  storage::write(world.db, [&](storage::Transaction& transaction) {
    storage::add_untestable(transaction, world.search().id,
                            {3, UntestableCause::does_not_import, "ImportError"});
    storage::add_untestable(transaction, world.search().id,
                            {5, UntestableCause::infrastructure, "no disk"});
  });
  WideningAsked wanted = asked();
  wanted.nightlies = 1;
  widen(world, wanted);
  const auto untestable = storage::untestable_of(world.db, world.search().id);
  REQUIRE(untestable.size() == 1);  // what a machine failed at is tried again
  CHECK(untestable[0].commit == 15);
  CHECK(untestable[0].cause == UntestableCause::does_not_import);
}

TEST_CASE("the wheel of an older good end is fetched before it is measured, if it is gone") {
  Spent world(29);
  const Build older = storage::proved_wheels(world.db, "cpu").back();
  REQUIRE(older.date == "2026-08-18");
  std::filesystem::remove(*world.artifacts.find(*older.sha256));
  REQUIRE_FALSE(world.artifacts.holds(*older.sha256));
  WideningAsked wanted = asked();
  wanted.nightlies = 1;
  widen(world, wanted);
  const auto jobs = storage::jobs_of_bisection(world.db, world.search().id).size();
  for (int i = 0; i < 3; ++i) world.tick_once();
  CHECK(storage::jobs_of_bisection(world.db, world.search().id).size() == jobs);
  const auto missing = missing_wheels(world.context());
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].id == older.id);
}

TEST_CASE("a smaller threshold finds the step that was too small to blame anybody for") {
  Day world;
  world.noise = .004;
  world.config.search.threshold = 1;
  world.run(std::string(20, 'p'), 9);
  REQUIRE(world.regression().state == RegressionState::inconclusive);
  CHECK(refusal(world, asked()).find("whatever more may be spent") != std::string::npos);
  WideningAsked wanted = asked();
  wanted.threshold = 1.5;
  CHECK(refusal(world, wanted).find("blames for smaller changes already") != std::string::npos);
  wanted.threshold = .07;
  widen(world, wanted);
  world.settle();
  CHECK(world.search().state == BisectionState::culprit);
  CHECK(world.regression().culprit->commits == std::vector{world.commits[9]});
  CHECK(storage::widening_history(world.db, world.search().id).at(0).threshold == .07);
  const auto changes = storage::changes_of(world.db, world.regression().id);
  const bool by_it = std::any_of(changes.begin(), changes.end(), [](const auto& change) {
    return change.state == RegressionState::blamed &&
           change.evidence.text.find("\"threshold\":0.07") != std::string::npos;
  });
  CHECK(by_it);
}

TEST_CASE_METHOD(Day, "a range that only a build can narrow is not searched again as it is") {
  run("p p p p p n n n n n n p p p p p p", 9);
  REQUIRE(search().state == BisectionState::range);
  CHECK(refusal(*this, asked()).find("whatever more may be spent") != std::string::npos);
}

TEST_CASE("all of a wider search is measured with the packages that it held before") {
  const Lock first = NightWorld::lock_with({{"numpy", "1.0"}});
  const Lock second = NightWorld::lock_with({{"numpy", "2.0"}});
  LockedWorld world(second, second);
  world.run_seconds = 60;
  world.config.search_minutes = std::chrono::minutes(10);
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    const double usual = metric == "latency" ? .010 : 3e8;
    return usual * (workload == alpha_eval && metric == "latency" && position >= 20 ? 1.4 : 1);
  };
  world.night("2026-08-18", first);
  world.grow(12);
  world.pass();
  REQUIRE(world.only().state == RegressionState::reported);
  std::set<std::string> versions;
  world.on_claim = [&](const Job& job) {
    for (const EnvironmentSpec& environment : job.spec.environments)
      versions.insert(world.version_in(environment, "numpy"));
    return true;
  };
  WideningAsked wanted = asked();
  wanted.nightlies = 1;
  wanted.more_minutes = 6000;
  widen(world, wanted);
  const Bisection search = *storage::bisection_of(world.db, world.only().id);
  const Build good = *storage::find_build(world.db, search.good);
  CHECK(good.kind == BuildKind::crossed);
  CHECK(good.lock == second.sha256);
  CHECK(storage::find_build(world.db, *good.base)->date == "2026-08-18");
  world.settle();
  CHECK(world.only().culprit->commits == std::vector{world.commits[20]});
  CHECK(versions == std::set<std::string>{"2.0"});
}

TEST_CASE("a search is not widened where that makes no sense, and the refusal says why") {
  Spent world(29);
  WideningAsked wanted = asked();
  wanted.nightlies = 2;
  CHECK(refusal(world, wanted) ==
        "There are too few older builds: nightlies of variant cpu before "
        "2.14.0.dev20260819+cpu that are known: 1.");
  wanted.build = world.regression().bad;
  CHECK(refusal(world, wanted).find("not by two of them") != std::string::npos);
  wanted.nightlies.reset();
  CHECK(refusal(world, wanted).find("does not precede") != std::string::npos);
  wanted.build = BuildId{99};
  CHECK(refusal(world, wanted).find("There is no build 99") == 0);
  wanted.build.reset();
  wanted.commit = world.commits[3];
  CHECK(refusal(world, wanted).find("No wheel of commit") == 0);
  wanted.commit = world.commits[0];
  CHECK(std::holds_alternative<Widen>(ask(world, wanted)));
  widen(world, wanted);
  CHECK(refusal(world, asked()) == "its search is under way.");
  CHECK(storage::widening_history(world.db, world.search().id).size() == 1);
}

TEST_CASE("only what ended without a culprit, and still matters, is searched again") {
  using enum RegressionState;
  WideningFacts facts;
  facts.search.emplace();
  facts.search->state = BisectionState::inconclusive;
  facts.limits.threshold = .07;
  const Config config;
  const auto reason = [&](RegressionState state) -> std::string {
    facts.regression.state = state;
    const auto step = decide(facts, asked(), config, Time{});
    const auto* no = std::get_if<CannotWiden>(&step);
    if (no) CHECK(no->field.empty());
    return no ? no->reason : "";
  };
  for (const RegressionState state : {inconclusive, range, reported, unattributed})
    CHECK(reason(state).empty());
  for (const RegressionState state : {suspected, unconfirmed, confirmed})
    CHECK(reason(state) == "its search has not begun.");
  CHECK(reason(recovered) == "it is over.");
  CHECK(reason(dismissed) == "it is over.");  // by a person
  CHECK(reason(merged).find("merged into can be widened") != std::string::npos);
  CHECK(reason(historical).find("imported history") != std::string::npos);
  facts.search->state = BisectionState::not_reproduced;
  CHECK(reason(dismissed).empty());  // by the search: its good end may have been bad already
  facts.search->state = BisectionState::culprit;
  CHECK(reason(reported).find("say the cause") != std::string::npos);
  facts.search->state = BisectionState::open;
  CHECK(reason(bisecting) == "its search is under way.");
  facts.search.reset();
  CHECK(reason(unattributed).find("no commits were searched") == 0);
  facts.regression.part = 1;
  CHECK(reason(range).find("the search of another regression found it") == 0);
}

TEST_CASE("what a search may spend is counted from what it has spent") {
  WideningFacts facts;
  facts.regression.state = RegressionState::unattributed;
  facts.search.emplace();
  facts.search->state = BisectionState::inconclusive;
  facts.search->runs = 480;
  facts.search->spent_seconds = 601;
  facts.limits.threshold = .07;
  Config config;
  config.search.max_runs = 480;
  config.search_minutes = std::chrono::minutes(720);
  WideningAsked wanted = asked();
  const auto limits = [&] {
    return std::get<Widen>(decide(facts, wanted, config, Time{})).widening;
  };
  CHECK(limits().max_runs == 960);
  CHECK(limits().max_minutes == 731);
  wanted.more_runs = 20;
  wanted.more_minutes = 5;
  CHECK(limits().max_runs == 500);
  CHECK(limits().max_minutes == 16);
  CHECK_FALSE(limits().threshold);
  facts.limits.own_threshold = .05;  // stays from the last time
  CHECK(limits().threshold == .05);
  wanted.threshold = .03;
  CHECK(limits().threshold == .03);
}
