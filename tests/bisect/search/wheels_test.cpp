// A wheel's effect is not taken for a commit's: who is named where wheels differ by themselves.
#include <catch2/catch.hpp>

#include "bisect/search/isolation.hpp"
#include "tests/support/wheel_search.hpp"

using namespace nightjar::bisect;
using namespace nightjar::test;
using Outcome = SearchOutcome;

namespace {

WorldOptions quiet_noise() {
  WorldOptions options;
  options.commits = 1;
  options.cv = .01;
  options.session_sd = .003;
  options.layout_sd = options.outliers = 0;
  return options;
}

// Commits on wheels of known effects, measured without noise beyond what `World` draws.
struct Bench {
  SearchLog log;
  std::vector<double> effect;  // of each wheel, log
  std::vector<double> level;   // of each commit, log
  int session = -1;
  World noise{quiet_noise(), 7};

  Bench(int commits, std::vector<int> origins, std::vector<double> effects)
      : effect(std::move(effects)), level(static_cast<std::size_t>(commits) + 1) {
    log.commits = commits;
    log.origins = std::move(origins);
    log.wheels.resize(level.size());
  }
  void serve(int wheel, int first, int last) {
    for (int commit = first; commit <= last; ++commit)
      log.wheels[static_cast<std::size_t>(commit)].push_back(wheel);
  }
  void step(int commit, double size) {
    for (std::size_t c = static_cast<std::size_t>(commit); c < level.size(); ++c) level[c] += size;
  }
  void measure(int commit, int wheel) {
    const auto c = static_cast<std::size_t>(commit), w = static_cast<std::size_t>(wheel);
    log.runs.push_back({session, commit, std::exp(level[c] + effect[w] + noise.measure(0)), wheel});
  }
  // From the confirmation of both ends to the answer.
  Answer search() {
    session = 0;
    for (int i = 0; i < 10; ++i) {
      measure(0, log.wheels.front().front());
      measure(log.commits, log.wheels.back().front());
    }
    for (int steps = 0; steps < 200; ++steps) {
      const NextStep next = next_step(log, {});
      if (const auto* answer = std::get_if<Answer>(&next.step)) return *answer;
      const auto& asked = std::get<Measure>(next.step);
      if (asked.new_session) {
        ++session;
        noise.new_session();
      }
      REQUIRE(asked.wheels.size() == asked.order.size());
      for (std::size_t i = 0; i < asked.order.size(); ++i) {
        const auto& served = log.wheels[static_cast<std::size_t>(asked.order[i])];
        REQUIRE(std::find(served.begin(), served.end(), asked.wheels[i]) != served.end());
        measure(asked.order[i], asked.wheels[i]);
        log.built.push_back(asked.order[i]);
      }
    }
    return {};
  }
};

// Commits that the answer accuses.
std::vector<std::pair<int, int>> accused(const Answer& answer) {
  std::vector<std::pair<int, int>> cells;
  for (const NamedStep& step : answer.culprits)
    if (step.isolated) cells.emplace_back(step.first, step.last);
  return cells;
}

}  // namespace

TEST_CASE("a slower wheel that serves every commit is told from the commits on it") {
  for (const double size : {.10, .22, -.15}) {
    Bench bench(6, {0, 1}, {0, size});
    bench.serve(0, 0, 6);
    bench.serve(1, 0, 6);
    std::rotate(bench.log.wheels.back().begin(), bench.log.wheels.back().begin() + 1,
                bench.log.wheels.back().end());  // the bad end's own wheel comes first
    const Answer answer = bench.search();
    CHECK(accused(answer).empty());
    if (size > 0) CHECK(answer.outcome == Outcome::wheel);
  }
}

TEST_CASE("a Python step is named on one wheel, whatever the bad end's wheel adds") {
  for (const double wheel : {0.0, .2, -.2}) {
    Bench bench(12, {0, 1}, {0, wheel});
    bench.serve(0, 0, 12);
    bench.serve(1, 0, 11);
    bench.log.wheels.back().insert(bench.log.wheels.back().begin(), 1);
    bench.step(5, .30);
    const Answer answer = bench.search();
    CHECK(accused(answer) == std::vector{std::pair{5, 5}});
    REQUIRE(answer.culprits.size() == 1);
    CHECK(answer.culprits[0].ratio == Approx(std::exp(.30)).epsilon(.05));
  }
}

TEST_CASE("a native step between two wheels that nothing compares accuses nobody") {
  Bench bench(6, {0, 1}, {0, 0});
  bench.serve(0, 0, 5);
  bench.serve(1, 6, 6);
  bench.step(6, .22);
  const Answer answer = bench.search();
  CHECK(accused(answer).empty());
  REQUIRE(answer.culprits.size() == 1);  // where it lies is known
  CHECK(answer.culprits[0].first == 6);
  CHECK_FALSE(answer.culprits[0].isolated);
  CHECK(answer.culprits[0].probability < .9);  // that the commit did it
}

TEST_CASE("wheels of one origin isolate a native step, also if another origin is slower") {
  Bench bench(9, {0, 1, 2, 2, 2}, {0, 0, .15, .15, .15});  // the last three are CI's
  bench.serve(0, 0, 2);
  bench.serve(1, 9, 9);
  bench.serve(2, 0, 2);
  bench.serve(3, 3, 5);
  bench.serve(4, 6, 9);
  bench.step(6, .12);
  const Answer answer = bench.search();
  CHECK(accused(answer) == std::vector{std::pair{6, 6}});
}

TEST_CASE("a commit on two wheels is a bridge between their origins") {
  // Good's group has no wheel of CI, and commit 3 has no other. Commit 9 has both kinds.
  Bench bench(9, {0, 0, 1, 1}, {0, 0, .10, .10});
  bench.serve(0, 0, 2);
  bench.serve(1, 6, 9);
  bench.serve(2, 3, 5);
  bench.serve(3, 6, 9);
  bench.step(3, .15);
  const Answer answer = bench.search();
  CHECK(accused(answer) == std::vector{std::pair{3, 3}});
}

TEST_CASE("one odd wheel between its like accuses none of the commits on it") {
  int wrong = 0;
  for (int at = 2; at < 6; ++at) {
    Bench bench(24, {0, 1, 2, 2, 2, 2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
    bench.effect[static_cast<std::size_t>(at)] = .18;
    bench.serve(0, 0, 3);
    bench.serve(1, 20, 24);
    for (int wheel = 2; wheel < 8; ++wheel)
      bench.serve(wheel, 4 * (wheel - 2), 4 * (wheel - 1) - 1);
    bench.log.wheels.back().push_back(7);
    bench.step(21, .25);
    for (const auto& cell : accused(bench.search())) wrong += cell != std::pair{21, 21};
  }
  CHECK(wrong == 0);
}

TEST_CASE("a search whose commits all lie on one wheel is the search without wheels, to the bit") {
  WheelDay day({.commits = 30, .native = 0}, 11);
  SearchLog plain;
  plain.commits = 30;
  for (int run = 0; run < 12; ++run)
    for (const int commit : {0, 15, 30})
      plain.runs.push_back({run / 6, commit, std::exp(day.measure(commit, day.wheels()[0]))});
  SearchLog told = plain;
  told.origins = {0};
  told.wheels.assign(31, {0});
  for (SearchRun& run : told.runs) run.wheel = 0;
  const Belief a = next_step(plain, {}).belief, b = next_step(told, {}).belief;
  CHECK(a.nothing == b.nothing);
  REQUIRE(a.cells.size() == b.cells.size());
  for (std::size_t i = 0; i < a.cells.size(); ++i)
    CHECK(a.cells[i].probability == b.cells[i].probability);
}

TEST_CASE("a log of wheels that cannot be is refused") {
  SearchLog log;
  log.commits = 1;
  log.origins = {0};
  log.wheels = {{0}, {1}};
  CHECK_THROWS_AS(next_step(log, {}), std::invalid_argument);
  log.wheels = {{0}, {0}};
  log.runs = {{0, 0, 1.0, 3}};
  CHECK_THROWS_AS(next_step(log, {}), std::invalid_argument);
}
