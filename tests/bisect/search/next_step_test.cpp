#include <limits>
#include <map>

#include <catch2/catch.hpp>

#include "bisect/search.hpp"
#include "bisect/search/posterior.hpp"
#include "tests/support/search_world.hpp"

using namespace nightjar;
using namespace nightjar::bisect;
using test::World;
using test::WorldOptions;

namespace {

struct Cell {
  int exact = 0, wrong = 0, nobody = 0;
  double runs = 0, attempts = 0;
};

// Forty jobs in one kind of world; culprits at random.
Cell forty_jobs(double cv, const std::vector<double>& effects, std::uint64_t seed) {
  Cell out;
  const int jobs = 40;
  for (int job = 0; job < jobs; ++job) {
    std::mt19937_64 random(seed * 1000 + static_cast<std::uint64_t>(job));
    WorldOptions options;
    options.cv = cv;
    std::vector<int> places;
    while (places.size() < effects.size()) {
      const int place = 1 + static_cast<int>(random() % 100);
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
    for (std::size_t i = 0; i < effects.size(); ++i) {
      options.planted.push_back({places[i], effects[i]});
    }
    World world(options, random());
    const auto result = test::search(world, options.commits, SearchPolicy{});
    std::vector<std::pair<int, int>> truth;
    for (int place : places) truth.push_back(world.cell(place));
    std::sort(truth.begin(), truth.end());
    truth.erase(std::unique(truth.begin(), truth.end()), truth.end());
    out.exact += result.blamed == truth;
    out.nobody += result.blamed.empty();
    for (const auto& cell : result.blamed) {
      out.wrong += std::find(truth.begin(), truth.end(), cell) == truth.end();
    }
    out.runs += static_cast<double>(result.runs) / jobs;
    out.attempts += static_cast<double>(result.attempts) / jobs;
  }
  return out;
}

SearchLog some_log(std::uint64_t seed, int steps) {
  WorldOptions options;
  options.planted = {{37, .07}};
  World world(options, seed);
  SearchLog log;
  log.commits = 100;
  int session = -1;
  for (int i = 0; i < steps; ++i) {
    const auto next = next_step(log, {});
    const auto* measure = std::get_if<Measure>(&next.step);
    if (!measure) break;
    session += measure->new_session;
    if (!world.buildable(measure->order[0]) && measure->order[0] != 100) {
      log.untestable.push_back(measure->order[0]);
      continue;
    }
    for (int commit : measure->order) {
      log.runs.push_back({session, commit, std::exp(world.measure(commit))});
    }
  }
  return log;
}

bool same(const NextStep& a, const NextStep& b) {
  if (a.step.index() != b.step.index()) return false;
  if (a.belief.nothing != b.belief.nothing || a.belief.noise != b.belief.noise) return false;
  if (const auto* measure = std::get_if<Measure>(&a.step)) {
    const auto& other = std::get<Measure>(b.step);
    return measure->order == other.order && measure->new_session == other.new_session;
  }
  const auto &one = std::get<Answer>(a.step), &other = std::get<Answer>(b.step);
  return one.rule == other.rule && one.culprits.size() == other.culprits.size();
}

}  // namespace

TEST_CASE("an empty log asks for interleaved runs of both ends in a new session") {
  SearchLog log;
  log.commits = 10;
  const auto next = next_step(log, {});
  const auto& measure = std::get<Measure>(next.step);
  CHECK(measure.new_session);
  CHECK(measure.order == std::vector{0, 10, 0, 10, 0, 10, 0, 10, 0, 10});
  log.runs = {{0, 0, 1.0}, {0, 10, 1.1}};
  const auto second = next_step(log, {});
  CHECK_FALSE(std::get<Measure>(second.step).new_session);
  CHECK(std::get<Measure>(second.step).order.size() == 8);
}

TEST_CASE("probabilities sum to one at every step") {
  for (const int steps : {1, 4, 9, 20}) {
    const auto log = some_log(5, steps);
    const auto posterior = search::infer(log, {});
    double sum = 0;
    for (double share : posterior.share) sum += share;
    CHECK(sum == Approx(1));
    CHECK(posterior.nothing + posterior.too_small <= 1);
    for (const auto& cell : next_step(log, {}).belief.cells) CHECK(cell.probability <= 1);
  }
}

TEST_CASE(
    "the next step is reproducible to the bit and the order of equal evidence does not matter") {
  for (const int steps : {2, 8, 15}) {
    auto log = some_log(11, steps);
    const auto first = next_step(log, {});
    CHECK(same(first, next_step(log, {})));
    std::reverse(log.runs.begin(), log.runs.end());
    std::reverse(log.untestable.begin(), log.untestable.end());
    CHECK(same(first, next_step(log, {})));
  }
}

TEST_CASE("history told backwards, upside down, gives the mirrored answer") {
  WorldOptions options;
  options.planted = {{37, .1}};
  options.outliers = 0;  // they are one-sided: nothing to be mirrored
  World world(options, 21);
  SearchLog log;
  test::search(world, 100, SearchPolicy{}, &log);
  SearchLog mirrored = log;
  for (SearchRun& run : mirrored.runs) run = {run.session, 100 - run.commit, 1 / run.value};
  for (auto* list : {&mirrored.untestable, &mirrored.built})
    for (int& commit : *list) commit = 100 - commit;
  const Belief belief = next_step(log, {}).belief, turned = next_step(mirrored, {}).belief;
  REQUIRE_FALSE(turned.cells.empty());
  CHECK(turned.cells[0].first == 101 - belief.cells[0].last);
  CHECK(turned.cells[0].last == 101 - belief.cells[0].first);
  CHECK(turned.cells[0].probability == Approx(belief.cells[0].probability).margin(.02));
  CHECK(turned.nothing == Approx(belief.nothing).margin(.01));
}

TEST_CASE("the unit of the metric does not matter") {
  auto log = some_log(12, 8);
  const auto first = next_step(log, {});
  for (auto& run : log.runs) run.value *= 1024;
  const auto second = next_step(log, {});
  REQUIRE(first.step.index() == second.step.index());
  CHECK(std::get<Measure>(first.step).order == std::get<Measure>(second.step).order);
  CHECK(first.belief.nothing == Approx(second.belief.nothing).epsilon(1e-6));
}

TEST_CASE("a session that was voided leaves a log that goes on") {
  auto log = some_log(13, 12);
  const int last = log.runs.back().session;
  std::erase_if(log.runs, [&](const SearchRun& run) { return run.session == last - 1; });
  CHECK_NOTHROW(next_step(log, {}));
  std::erase_if(log.runs, [&](const SearchRun& run) { return run.session == last; });
  CHECK_NOTHROW(next_step(log, {}));
}

TEST_CASE("+7 % at CV 3 % among 100 commits, a tenth unbuildable, is blamed exactly") {
  const auto cell = forty_jobs(.03, {.07}, 1);
  CHECK(cell.exact >= 39);
  CHECK(cell.wrong <= 1);
  CHECK(cell.runs <= 80);
  CHECK(cell.attempts <= 8.2);
}

TEST_CASE("without a regression nobody is blamed and nothing is built") {
  for (const double cv : {.01, .03, .05}) {
    const auto cell = forty_jobs(cv, {}, 2);
    CHECK(cell.nobody == 40);
    CHECK(cell.attempts <= .3);
  }
}

TEST_CASE("two culprits are found, and only those") {
  const auto cell = forty_jobs(.03, {.10, .10}, 3);
  CHECK(cell.exact >= 38);
  CHECK(cell.wrong <= 1);
}

TEST_CASE("memory without any spread, and an effect of +400 %, are no trouble") {
  for (const double effect : {.08, 4.0}) {
    WorldOptions options;
    options.cv = 0;
    options.session_sd = 0;
    options.layout_sd = 0;
    options.outliers = 0;
    options.planted = {{63, effect}};
    World world(options, 9);
    const auto result = test::search(world, 100, SearchPolicy{});
    REQUIRE(result.blamed.size() == 1);
    CHECK(result.blamed[0] == world.cell(63));
    CHECK(result.runs <= 45);
  }
}

TEST_CASE("several builders need fewer rounds of builds") {
  struct Bar {
    int builders;
    double rounds, attempts;
  };
  for (const Bar bar : {Bar{1, 8, 8}, {2, 5.8, 11.6}, {3, 4.8, 14}, {7, 3.8, 23}}) {
    SearchPolicy policy;
    policy.builds_at_once = bar.builders;
    int exact = 0;
    double rounds = 0, attempts = 0;
    for (int job = 0; job < 40; ++job) {
      std::mt19937_64 random(static_cast<std::uint64_t>(500 + job));
      WorldOptions options;
      const int place = 1 + static_cast<int>(random() % 100);
      options.planted = {{place, .2}};
      World world(options, random());
      const auto result = test::search(world, 100, policy);
      exact += result.blamed == std::vector{world.cell(place)};
      rounds += result.rounds / 40.0;
      attempts += result.attempts / 40.0;
    }
    INFO(bar.builders << " builders: " << rounds << " rounds, " << attempts << " attempts");
    CHECK(exact >= 38);
    CHECK(rounds <= bar.rounds);
    CHECK(attempts <= bar.attempts);
  }
}

TEST_CASE("no session has more runs than the policy allows") {
  for (const int most : {12, 20}) {
    SearchPolicy policy;
    policy.session_runs = most;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      INFO("at most " << most << ", seed " << seed);
      WorldOptions options;
      options.cv = .05;
      options.planted = {{37, .1}};
      World world(options, seed);
      SearchLog log;
      test::search(world, 100, policy, &log);
      std::map<int, int> runs;
      for (const SearchRun& run : log.runs) ++runs[run.session];
      CHECK(runs.size() > 2);
      for (const auto& [session, count] : runs) CHECK(count <= most);
    }
  }
}

TEST_CASE("an improvement blames nobody") {
  WorldOptions options;
  options.planted = {{20, -.2}};
  World world(options, 10);
  const auto result = test::search(world, 100, SearchPolicy{});
  CHECK(result.blamed.empty());
  CHECK_FALSE(result.inconclusive);
  CHECK(result.attempts == 0);
}

TEST_CASE("a log that cannot be is refused") {
  SearchLog log;
  log.commits = 10;
  CHECK_THROWS_AS(next_step(SearchLog{}, {}), std::invalid_argument);
  for (const SearchRun run :
       {SearchRun{0, 11, 1.0}, SearchRun{0, -1, 1.0}, SearchRun{0, 1, 0.0}, SearchRun{-1, 1, 1.0},
        SearchRun{0, 1, std::numeric_limits<double>::infinity()}}) {
    auto bad = log;
    bad.runs = {run};
    CHECK_THROWS_AS(next_step(bad, {}), std::invalid_argument);
  }
  auto bad = log;
  bad.prior = {1, 2};
  CHECK_THROWS_AS(next_step(bad, {}), std::invalid_argument);
  bad = log;
  bad.untestable = {10};
  CHECK_THROWS_AS(next_step(bad, {}), std::invalid_argument);
}
