#include <catch2/catch.hpp>

#include "tests/support/failing_world.hpp"

using namespace nightjar;
using namespace nightjar::test;
using bisect::SearchOutcome;

namespace {

struct FailureTally {
  int exact = 0, blamed = 0;
};

FailureTally failure_tally(double before, double after, std::uint64_t searches = 20) {
  FailureTally out;
  for (std::uint64_t seed = 0; seed < searches; ++seed) {
    FailingWorld world(before, after, seed);
    const auto found = failure_search(world);
    out.blamed += !found.blamed.empty();
    out.exact += found.blamed == std::vector<int>{world.culprit()};
  }
  return out;
}

}  // namespace

TEST_CASE("a commit that breaks a test always or sometimes is named") {
  CHECK(failure_tally(0, 1).exact == 20);
  CHECK(failure_tally(0, .2).exact >= 19);
}

TEST_CASE("a commit that makes a flaky test fail more often is named") {
  CHECK(failure_tally(.02, .5).exact >= 19);
}

TEST_CASE("nobody is blamed for a test that fails as often at both ends") {
  CHECK(failure_tally(0, 0).blamed == 0);
  CHECK(failure_tally(.2, .2, 5).blamed == 0);
  FailingWorld world(0, 0, 1);
  CHECK(failure_search(world).answer.outcome == SearchOutcome::not_reproduced);
}

TEST_CASE("a named commit is confirmed later, and failures that ended by then blame nobody") {
  // As if something was away whenever the bad end was run.
  bisect::SearchLog log;
  log.commits = 2;
  log.built = {1};
  for (int i = 0; i < 20; ++i) {
    log.runs.push_back({0, 0, 0});
    log.runs.push_back({0, 1, 0});
    log.runs.push_back({0, 2, 1});
  }
  bisect::SearchPolicy policy;
  policy.of_failures = true;
  policy.threshold = .02;
  const auto next = bisect::next_step(log, policy);
  const auto* measure = std::get_if<bisect::Measure>(&next.step);
  REQUIRE(measure);
  CHECK(measure->confirms);
  CHECK(measure->new_session);
  for (int i = 0; i < 60; ++i)
    for (const int commit : {1, 2}) log.runs.push_back({1, commit, 0});
  const auto later = bisect::next_step(log, policy);
  CHECK_FALSE((std::holds_alternative<bisect::Answer>(later.step) &&
               !std::get<bisect::Answer>(later.step).culprits.empty()));
}

TEST_CASE("a run that is neither passed nor failed is refused") {
  bisect::SearchLog log;
  log.commits = 1;
  log.runs = {{0, 0, .5}};
  bisect::SearchPolicy policy;
  policy.of_failures = true;
  CHECK_THROWS_WITH(bisect::next_step(log, policy), Catch::Contains("neither passed nor failed"));
}
