#include "storage/widening.hpp"

#include <catch2/catch.hpp>

#include "storage/bisections.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("what a search had come to each time that it was widened is kept in order") {
  Story story;
  const Regression regression = story.suspect();
  Bisection search;
  search.regression = regression.id;
  search.series = regression.series[0].series;
  search.commits = {commit('a'), commit('b')};
  search.good = story.good.id;
  search.bad = story.bad.id;
  search.started_at = at(1);
  search = add_bisection(Autocommit(story.db), search);
  CHECK(widening_history(story.db, search.id).empty());

  Widening first;
  first.bisection = search.id;
  first.at = at(50);
  first.actor = "token:ops";
  first.reason = "the good end was slow already";
  first.outcome = BisectionState::range;
  first.good = story.good.id;
  first.posterior = R"([{"commits": [], "probability": 0.4}])";
  first.runs = 96;
  first.sessions = 7;
  first.spent_seconds = 1234.5;
  first.finished_at = at(40);
  first.max_runs = 576;
  first.max_minutes = 740;
  Widening second = first;
  second.at = at(60);
  second.outcome = BisectionState::inconclusive;
  second.threshold = .03;
  add_widening(Autocommit(story.db), first);
  add_widening(Autocommit(story.db), second);

  const auto stored = widening_history(story.db, search.id);
  REQUIRE(stored.size() == 2);
  CHECK(stored[0].at == at(50));
  CHECK(stored[0].actor == "token:ops");
  CHECK(stored[0].reason == first.reason);
  CHECK(stored[0].outcome == BisectionState::range);
  CHECK(stored[0].good == story.good.id);
  CHECK(stored[0].posterior == first.posterior);
  CHECK(stored[0].runs == 96);
  CHECK(stored[0].sessions == 7);
  CHECK(stored[0].spent_seconds == 1234.5);
  CHECK(stored[0].finished_at == at(40));
  CHECK(stored[0].max_runs == 576);
  CHECK(stored[0].max_minutes == 740);
  CHECK_FALSE(stored[0].threshold);
  CHECK(stored[1].outcome == BisectionState::inconclusive);
  CHECK(stored[1].threshold == .03);
  CHECK(widening_history(story.db, BisectionId{99}).empty());
}
