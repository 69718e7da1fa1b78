#include <set>

#include <catch2/catch.hpp>

#include "service/engine/outcome/report_facts.hpp"
#include "service/engine/search/search_jobs.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/bisections.hpp"
#include "tests/service/engine/night_world.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;

namespace {

struct Steps {
  int latency = 1000, memory = 1000;  // first commits of a step in alpha
};

void two_nights(NightWorld& world, Steps steps) {
  world.level = [steps](int position, const std::string& workload, const std::string& metric) {
    const double usual = metric == "latency" ? .010 : 3e8;
    if (workload != alpha_eval) return usual;
    const bool time = metric == "latency";
    return usual * (position < (time ? steps.latency : steps.memory) ? 1 : time ? 1.4 : 1.09);
  };
  world.nightly("2026-08-19");
  world.settle();
  world.grow(40);
  world.nightly("2026-08-20");
  world.settle();
}

std::vector<Bisection> searches(NightWorld& world) {
  return storage::list_bisections(world.db, {}).items;
}

}  // namespace

TEST_CASE("three runners of a machine class search together, in fewer rounds") {
  NightWorld world;
  std::vector<Runner> others;
  for (const char* name : {"second", "third"}) {
    Runner other = world.runner;
    other.name = name;
    others.push_back(storage::register_runner(storage::Autocommit(world.db), other));
  }
  std::size_t most = 0, rounds = 0;
  std::set<std::size_t> asked;
  world.on_claim = [&](const Job& job) {
    for (const Runner& other : others)
      storage::touch_runner(storage::Autocommit(world.db), other.id, world.clock.now());
    if (job.spec.kind != JobKind::bisect) return true;
    const auto jobs = storage::jobs_of_bisection(world.db, searches(world).front().id);
    if (asked.insert(jobs.size()).second) ++rounds;
    std::size_t open = 0;
    for (const BisectionJob& entry : jobs)
      open += storage::find_job(world.db, entry.job)->state != JobState::done;
    most = std::max(most, open);
    return true;
  };
  two_nights(world, {.latency = 17});
  CHECK(most == 3);
  REQUIRE(searches(world).size() == 1);
  CHECK(searches(world).front().state == BisectionState::culprit);
  const auto jobs = storage::jobs_of_bisection(world.db, searches(world).front().id);
  CHECK(rounds < jobs.size());
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].culprit->commits == std::vector{world.commits[17]});
}

TEST_CASE("a search reads what an earlier one of the night measured of the same workload") {
  NightWorld world;
  world.noise = .004;
  two_nights(world, {.latency = 11, .memory = 30});
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 2);
  auto both = searches(world);
  REQUIRE(both.size() == 2);
  std::sort(both.begin(), both.end(), [](auto& a, auto& b) { return a.id.value < b.id.value; });
  const auto measured = storage::find_series(world.db, both[0].series);
  REQUIRE(measured->metric == "latency");  // the clearer one; a search for memory measures no time
  const auto regression = storage::find_regression(world.db, *both[1].regression);
  const auto series = storage::find_series(world.db, both[1].series);
  const SearchRuns log = load_runs(world.db, both[1], *regression, *series);
  std::set<int> sessions;
  for (const auto& run : log.log.runs) sessions.insert(run.session);
  std::set<int> own;
  for (const auto& entry : storage::jobs_of_bisection(world.db, both[1].id))
    own.insert(entry.session);
  std::set<int> earlier;
  for (const auto& entry : storage::jobs_of_bisection(world.db, both[0].id))
    earlier.insert(entry.session);
  CHECK(sessions.size() >= own.size() + earlier.size() + 1);  // and the confirmation's
}

TEST_CASE("a search that has spent its minutes blames nobody, and says so") {
  NightWorld world;
  world.config.report.unattributed = UnattributedReports::none;
  world.run_seconds = 60;
  world.config.search_minutes = std::chrono::minutes(10);
  two_nights(world, {.latency = 17});
  REQUIRE(searches(world).size() == 1);
  CHECK(searches(world).front().state == BisectionState::inconclusive);
  CHECK(searches(world).front().spent_seconds > 10 * 60);
  const auto ended = storage::regressions_in_state(world.db, RegressionState::inconclusive);
  REQUIRE(ended.size() == 1);
  CHECK(storage::changes_of(world.db, ended[0].id)
            .back()
            .evidence.rule.find("the budget of minutes is spent: 10") != std::string::npos);
}

TEST_CASE(
    "a search's runs are those that it and its issue count, the confirmation's runs included") {
  NightWorld world;
  two_nights(world, {.latency = 17});
  REQUIRE(searches(world).size() == 1);
  const Bisection search = searches(world).front();
  const auto regression = *storage::find_regression(world.db, *search.regression);
  const auto series = *storage::find_series(world.db, search.series);
  const auto jobs_before = storage::count_jobs(world.db);
  const SearchRuns seen = load_runs(world.db, search, regression, series);
  CHECK(storage::count_jobs(world.db) == jobs_before);
  CHECK_FALSE(seen.pending);
  CHECK(seen.runs.size() == seen.log.runs.size());
  CHECK(static_cast<int>(seen.runs.size()) == search.runs);
  const SearchProgress progress = load_progress(world.db, search, regression, seen, series);
  CHECK(progress.sessions == search.sessions);
  CHECK(progress.newly_untestable.empty());
  CHECK(seen.parts.front().job.spec.kind == JobKind::confirm);
  CHECK(seen.parts.back().job.spec.kind == JobKind::bisect);
  std::size_t runs = 0;
  for (const LogPart& part : seen.parts) runs += static_cast<std::size_t>(part.runs);
  CHECK(runs == seen.log.runs.size());
}

TEST_CASE("while a session is under way, the runs are those that were measured before it") {
  NightWorld world;
  bool looked = false;
  world.on_claim = [&](const Job& job) {
    if (job.spec.kind != JobKind::bisect || looked) return true;
    looked = true;
    const Bisection search = searches(world).front();
    const auto seen =
        load_runs(world.db, search, *storage::find_regression(world.db, *search.regression),
                  *storage::find_series(world.db, search.series));
    CHECK(seen.pending);
    CHECK_FALSE(seen.log.runs.empty());
    CHECK(seen.parts.back().runs == 0);
    CHECK(seen.parts.back().job.state == JobState::leased);
    return true;
  };
  two_nights(world, {.latency = 17});
  CHECK(looked);
}

TEST_CASE("several small steps are one cause that names all contributors") {
  NightWorld world;
  world.noise = .004;
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    const double usual = metric == "latency" ? .010 : 3e8;
    if (workload != alpha_eval || metric != "latency") return usual;
    return usual * (position < 11 ? 1 : position < 30 ? 1.045 : 1.045 * 1.045);
  };
  world.nightly("2026-08-19");
  world.settle();
  world.grow(40);
  world.nightly("2026-08-20");
  world.settle();
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].culprit->commits == std::vector{world.commits[11], world.commits[30]});
  CHECK(reported[0].culprit->ratio == Approx(1.045 * 1.045).margin(.01));
  EngineContext context = world.context();
  const ReportInput facts = report_facts(context, reported[0]);
  REQUIRE(facts.contributors.size() == 2);
  CHECK(facts.contributors[1].commits.front().sha == world.commits[30]);
  CHECK(facts.contributors[1].ratio == Approx(1.045).margin(.01));
}

TEST_CASE("a search that finds only steps below the threshold is inconclusive and blames nobody") {
  NightWorld world;
  world.noise = .004;
  world.config.search.threshold = 1;  // confirmed at 7 %, worth blaming at 100 %
  two_nights(world, {.latency = 17});
  CHECK(storage::regressions_in_state(world.db, RegressionState::reported).empty());
  const auto ended = storage::regressions_in_state(world.db, RegressionState::inconclusive);
  REQUIRE(ended.size() == 1);
  const std::string evidence = storage::changes_of(world.db, ended[0].id).back().evidence.text;
  CHECK(evidence.find("\"below_threshold\"") != std::string::npos);
  CHECK(evidence.find("below the threshold of 100 %") != std::string::npos);
}

TEST_CASE("a series with a threshold of its own is searched by that one") {
  NightWorld world;
  const auto threshold = [&] {
    EngineContext context = world.context();
    const auto series = storage::find_series(world.db, searches(world).front().series);
    return policy_for(context, world.runner.machine, *series).threshold;
  };
  two_nights(world, {.latency = 17});
  REQUIRE(searches(world).size() == 1);
  CHECK(threshold() == Approx(.07));
  world.config.search.threshold = .10;
  CHECK(threshold() == Approx(.10));
  world.config.thresholds.push_back({"python/**", "latency", .03, {}});
  CHECK(threshold() == Approx(.03));
}
