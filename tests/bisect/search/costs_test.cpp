// The search with costs: it prefers what is cheap, and keeps builders and runners busy.
#include <limits>

#include <catch2/catch.hpp>

#include "bisect/search/readiness.hpp"
#include "tests/support/build_clock.hpp"

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

constexpr double build = 60, preparation = 2;  // in runs of a second

// `runs` quiet runs of a commit at a log level.
void add_runs(SearchLog& log, int session, int commit, int runs, double level) {
  for (int i = 0; i < runs; ++i)
    log.runs.push_back({session, commit, std::exp(level + .01 * ((i % 5) - 2) / 2)});
}

// Commits 0..100 whose ends surely differ. Each but the ends is a group of its own without a wheel.
SearchLog two_ends(int commits = 100) {
  SearchLog log;
  log.commits = commits;
  for (int session = 0; session < 4; ++session) {
    add_runs(log, session, 0, 5, 0);
    add_runs(log, session, commits, 5, .2);
  }
  for (int commit = 0; commit <= commits; ++commit)
    log.costs.push_back({commit, build, preparation});
  log.costs.front() = log.costs.back() = {};
  return log;
}

CommitCost& cost(SearchLog& log, int commit) {
  return log.costs[static_cast<std::size_t>(commit)];
}
void give_wheel(SearchLog& log, int commit) {
  cost(log, commit).build_seconds = 0;
}

SearchPolicy with_builders(int builders, int runners = 1) {
  SearchPolicy policy;
  policy.seconds_per_run = 1;
  policy.builders = builders;
  policy.runners = runners;
  policy.abandons_builds = true;
  return policy;
}

Measure asked(const SearchLog& log, const SearchPolicy& policy) {
  const NextStep next = next_step(log, policy);
  return std::get<Measure>(next.step);
}

std::vector<int> sorted(std::vector<int> commits) {
  std::sort(commits.begin(), commits.end());
  return commits;
}

bool same_step(const NextStep& a, const NextStep& b) {
  if (a.step.index() != b.step.index() || a.belief.nothing != b.belief.nothing) return false;
  if (const auto* answer = std::get_if<Answer>(&a.step))
    return answer->rule == std::get<Answer>(b.step).rule;
  const auto &one = std::get<Measure>(a.step), &other = std::get<Measure>(b.step);
  return one.order == other.order && one.new_session == other.new_session &&
         one.confirms == other.confirms && one.build_too == other.build_too &&
         one.abandon == other.abandon && one.measure_too == other.measure_too;
}

}  // namespace

TEST_CASE("a neighbour that has a wheel is preferred to the midpoint that has none") {
  SearchLog log = two_ends();
  CHECK(asked(log, with_builders(1)).order.front() == 50);
  give_wheel(log, 42);
  CHECK(asked(log, with_builders(1)).order.front() == 42);
  give_wheel(log, 51);
  CHECK(asked(log, with_builders(1)).order.front() == 51);
}

TEST_CASE("a wheel close to an end is no reason to spare the build in the middle") {
  SearchLog log = two_ends();
  give_wheel(log, 1);
  const Measure step = asked(log, with_builders(1));
  const std::vector<int> wanted = step.order.front() == 1 ? step.build_too : step.order;
  REQUIRE_FALSE(wanted.empty());
  CHECK(std::abs(wanted.front() - 50) <= 1);
}

TEST_CASE("a running build is not waited for if something useful can be measured") {
  SearchLog log = two_ends();
  log.building = {{50, build}};
  CHECK(asked(log, with_builders(1)).order.front() == 50);
  give_wheel(log, 30);
  CHECK(asked(log, with_builders(1)).order.front() == 30);
}

TEST_CASE("a build begins at once though ready commits are measured meanwhile") {
  SearchLog log = two_ends();
  log.runs.resize(16);  // eight a side: the ends are still worth a look
  for (SearchRun& run : log.runs) run.value = std::exp(3 * std::log(run.value));
  SearchPolicy policy = with_builders(1);
  policy.abandons_builds = false;
  const Measure step = asked(log, policy);
  const std::vector<int> built = step.build_too.empty() ? step.order : step.build_too;
  CHECK(built.front() == 50);
}

TEST_CASE("a build that is nearly done is waited for") {
  SearchLog log = two_ends();
  give_wheel(log, 12);
  log.building = {{50, 1}};
  CHECK(asked(log, with_builders(1)).order.front() == 50);
}

TEST_CASE("a build that takes longer than expected is not taken for done") {
  SearchLog log = two_ends();
  log.building = {{50, 0}};
  const search::Readiness readiness(log, with_builders(1));
  CHECK(readiness.needs_builder(50));
  CHECK(asked(log, with_builders(1)).order.front() == 50);
}

TEST_CASE("while the midpoint is measured, builders make the next midpoint of either half") {
  SearchLog log = two_ends();
  cost(log, 50) = {50, 0, 0};
  const Measure step = asked(log, with_builders(2));
  CHECK(step.order.front() == 50);
  CHECK(sorted(step.build_too) == std::vector{25, 75});
  CHECK(step.abandon.empty());
}

TEST_CASE("while the midpoint is built, other builders make the quantiles") {
  const Measure step = asked(two_ends(), with_builders(4));
  std::vector<int> builds = step.build_too;
  builds.push_back(step.order.front());
  REQUIRE(builds.size() == 4);
  builds = sorted(builds);
  for (int k = 0; k < 4; ++k)
    CHECK(std::abs(builds[static_cast<std::size_t>(k)] - 20 * (k + 1)) <= 2);
}

TEST_CASE("no more builds are asked for than there are idle builders") {
  SearchLog log = two_ends();
  cost(log, 50) = {50, 0, 0};
  log.building = {{25, 30}};
  CHECK(asked(log, with_builders(1)).build_too.empty());
  CHECK(asked(log, with_builders(2)).build_too == std::vector{75});
}

TEST_CASE("a wheel is built once for all the commits that it serves") {
  SearchLog log = two_ends();
  for (int commit = 45; commit <= 55; ++commit) cost(log, commit).group = 50;
  const Measure step = asked(log, with_builders(3));
  std::vector<int> builds = step.build_too;
  builds.push_back(step.order.front());
  CHECK(std::count_if(builds.begin(), builds.end(),
                      [](int commit) { return commit >= 45 && commit <= 55; }) == 1);
  log.building = {{47, 30}};
  for (const int commit : asked(log, with_builders(3)).build_too)
    CHECK((commit < 45 || commit > 55));
}

TEST_CASE("a build that no longer matters is abandoned when its builder is needed") {
  SearchLog log = two_ends();
  for (int session = 4; session < 8; ++session) {
    add_runs(log, session, 0, 5, 0);
    add_runs(log, session, 50, 5, .2);
    add_runs(log, session, 100, 5, .2);
  }
  cost(log, 50) = {50, 0, 0};
  log.building = {{75, 50}};
  const Measure step = asked(log, with_builders(1));
  CHECK(step.abandon == std::vector{75});
  CHECK(step.order.front() == 25);
  CHECK(asked(log, with_builders(64)).abandon.empty());
}

TEST_CASE("without abandoning, one builder is spared until it is sure what is needed") {
  SearchLog log = two_ends();
  SearchPolicy policy = with_builders(2);
  policy.abandons_builds = false;
  CHECK(asked(log, policy).build_too.size() == 1);  // the midpoint needs the other one
  cost(log, 50) = {50, 0, 0};
  CHECK(asked(log, policy).build_too.size() == 1);
  policy.builders = 1;
  CHECK(asked(log, policy).build_too.empty());
}

TEST_CASE("idle runners measure other commits that are ready") {
  SearchLog log = two_ends();
  for (const int commit : {25, 50, 75}) cost(log, commit) = {commit, 0, 0};
  const Measure step = asked(log, with_builders(1, 3));
  CHECK(step.order.front() == 50);
  CHECK(sorted(step.measure_too) == std::vector{25, 75});
  CHECK(asked(log, with_builders(1)).measure_too.empty());
}

TEST_CASE("an expensive commit is built if nothing else leads to an answer") {
  test::BuildWorld builds;
  builds.group = {0, 1, 2, 2};
  builds.wheels = {0, 2};
  builds.build = 5000;
  test::WorldOptions options;
  options.commits = 3;
  options.unbuildable = 0;
  options.planted = {{1, .10}};
  test::World world(options, 7);
  const auto result = test::TimedSearch(world, builds, 3, SearchPolicy{}, true).run();
  CHECK(result.job.blamed == std::vector{std::pair{0, 1}});
  CHECK(result.builds == 1);
  CHECK(result.job.runs <= 150);
  CHECK(result.makespan <= 5200);
}

TEST_CASE("nothing is built before the change is reproduced") {
  test::BuildWorld builds = test::build_world(100, .5, 0, 0, 3);
  builds.builders = 4;
  test::World world(test::WorldOptions{}, 8);
  const auto result = test::TimedSearch(world, builds, 100, SearchPolicy{}, true).run();
  CHECK(result.job.blamed.empty());
  CHECK(result.builds == 0);
  CHECK(result.abandoned == 0);
}

TEST_CASE("without costs, or without the time of a run, the search is the same to the bit") {
  test::WorldOptions options;
  options.planted = {{37, .07}};
  test::World world(options, 11);
  SearchLog log;
  log.commits = 100;
  int session = -1;
  SearchPolicy plain, builders_only;
  plain.builds_at_once = builders_only.builds_at_once = 3;
  builders_only.seconds_per_run = 7;
  builders_only.builders = 4;
  builders_only.runners = 2;
  for (;;) {
    SearchLog costs_only = log;
    costs_only.costs.assign(101, {3, 60, 2});
    costs_only.building = {{50, 10}};
    const NextStep next = next_step(log, plain);
    REQUIRE(same_step(next, next_step(costs_only, plain)));
    REQUIRE(same_step(next, next_step(log, builders_only)));
    const auto* step = std::get_if<Measure>(&next.step);
    if (!step) break;
    session += step->new_session;
    for (const int commit : step->order) {
      if (commit != 100 && !world.buildable(commit)) {
        log.untestable.push_back(commit);
        break;
      }
      log.runs.push_back({session, commit, std::exp(world.measure(commit))});
    }
  }
}

TEST_CASE("a search with costs is reproducible to the bit, in any order of what is being built") {
  SearchLog log = two_ends();
  log.building = {{20, 10}, {40, 30}};
  SearchLog turned = log;
  std::reverse(turned.building.begin(), turned.building.end());
  CHECK(same_step(next_step(log, with_builders(4)), next_step(log, with_builders(4))));
  CHECK(same_step(next_step(log, with_builders(4)), next_step(turned, with_builders(4))));
}

TEST_CASE("costs that cannot be are refused") {
  const SearchLog log = two_ends(10);
  const auto refuses = [](const SearchLog& bad, const SearchPolicy& policy) {
    CHECK_THROWS_AS(next_step(bad, policy), std::invalid_argument);
  };
  SearchLog bad = log;
  bad.costs.pop_back();
  refuses(bad, with_builders(1));
  for (const double seconds : {-1.0, std::numeric_limits<double>::infinity()}) {
    bad = log;
    bad.costs[3].build_seconds = seconds;
    refuses(bad, with_builders(1));
    bad = log;
    bad.costs[3].prepare_seconds = seconds;
    refuses(bad, with_builders(1));
    bad = log;
    bad.building = {{3, seconds}};
    refuses(bad, with_builders(1));
  }
  bad = log;
  bad.building = {{11, 1}};
  refuses(bad, with_builders(1));
  refuses(log, with_builders(0));
  refuses(log, with_builders(1, 0));
}
