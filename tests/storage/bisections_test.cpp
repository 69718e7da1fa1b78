#include <catch2/catch.hpp>

#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {
Bisection open_bisection(Story& story) {
  const Regression regression = story.suspect();
  Bisection bisection;
  bisection.regression = regression.id;
  bisection.series = regression.series[0].series;
  bisection.commits = {commit('a'), commit('b'), commit('c')};
  bisection.good = story.good.id;
  bisection.bad = story.bad.id;
  bisection.started_at = at(50);
  return add_bisection(Autocommit(story.db), bisection);
}
}  // namespace

TEST_CASE("a regression is bisected once") {
  Story story;
  const Bisection first = open_bisection(story);
  Bisection again = first;
  again.commits = {commit('d')};
  CHECK(add_bisection(Autocommit(story.db), again).id == first.id);
  const Bisection stored = *bisection_of(story.db, *first.regression);
  CHECK(stored.commits == std::vector{commit('a'), commit('b'), commit('c')});
  CHECK(stored.series == first.series);
  CHECK(stored.good == story.good.id);
  CHECK(stored.bad == story.bad.id);
  CHECK(stored.started_at == at(50));
  CHECK_FALSE(stored.finished_at);
  CHECK_FALSE(bisection_of(story.db, RegressionId{99}));
}

TEST_CASE("a bisection ends with its posterior") {
  Story story;
  Bisection bisection = open_bisection(story);
  CHECK(open_bisections(story.db).size() == 1);
  bisection.state = BisectionState::culprit;
  bisection.posterior = {{1, 1, .99}};
  bisection.outcome = SearchOutcome::culprit;
  bisection.found = {{1, 1, .99, 1.2, 1.1, 1.3, false}};
  bisection.spent_seconds = 81.5;
  bisection.expected_runs = 12;
  bisection.runs = 20;
  bisection.sessions = 3;
  bisection.finished_at = at(90);
  bisection.commits.push_back(commit('d'));
  update_bisection(Autocommit(story.db), bisection);
  CHECK(open_bisections(story.db).empty());
  const Bisection stored = *find_bisection(story.db, bisection.id);
  CHECK(stored.state == BisectionState::culprit);
  CHECK(stored.posterior == bisection.posterior);
  CHECK(stored.outcome == bisection.outcome);
  CHECK(stored.found == bisection.found);
  CHECK(stored.spent_seconds == 81.5);
  CHECK(stored.expected_runs == 12);
  CHECK(stored.runs == 20);
  CHECK(stored.sessions == 3);
  CHECK(stored.finished_at == at(90));
  CHECK(stored.commits.size() == 4);
  CHECK(list_bisections(story.db, {}).items.size() == 1);
  CHECK_FALSE(find_bisection(story.db, BisectionId{99}));
}

TEST_CASE("a bisection's log keeps its jobs in order, each once") {
  Story story;
  const BisectionId id = open_bisection(story).id;
  const JobId later = story.queue("later", JobKind::bisect).id;
  const JobId first = story.queue("first", JobKind::bisect).id;
  add_bisection_job(Autocommit(story.db), id, {first, 0});
  add_bisection_job(Autocommit(story.db), id, {later, 1});
  add_bisection_job(Autocommit(story.db), id, {first, 7});
  const auto jobs = jobs_of_bisection(story.db, id);
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].job == first);
  CHECK(jobs[0].session == 0);
  CHECK(jobs[1].job == later);
  CHECK(jobs[1].session == 1);
}

TEST_CASE("a commit is untestable once, for its first reason, until it is testable again") {
  using enum UntestableCause;
  Story story;
  const BisectionId id = open_bisection(story).id;
  add_untestable(Autocommit(story.db), id, {2, does_not_import, "ImportError"});
  add_untestable(Autocommit(story.db), id, {1, no_build_here, "no wheel"});
  add_untestable(Autocommit(story.db), id, {2, no_build_here, "another reason"});
  const auto untestable = untestable_of(story.db, id);
  REQUIRE(untestable.size() == 2);
  CHECK(untestable[0].commit == 1);
  CHECK(untestable[0].cause == no_build_here);
  CHECK(untestable[1].commit == 2);
  CHECK(untestable[1].cause == does_not_import);
  CHECK(untestable[1].reason == "ImportError");

  remove_untestable(Autocommit(story.db), id, 1);
  REQUIRE(untestable_of(story.db, id).size() == 1);
  CHECK(untestable_of(story.db, id)[0].commit == 2);
  add_untestable(Autocommit(story.db), id, {1, does_not_compile, "error: no member named x"});
  CHECK(untestable_of(story.db, id)[0].cause == does_not_compile);
}

TEST_CASE("searches are found by how they stand") {
  Story story;
  Bisection search = open_bisection(story);
  CHECK(open_bisections(story.db).size() == 1);
  CHECK(bisections_in_state(story.db, BisectionState::range).empty());
  search.state = BisectionState::range;
  update_bisection(Autocommit(story.db), search);
  CHECK(open_bisections(story.db).empty());
  CHECK(bisections_in_state(story.db, BisectionState::range).size() == 1);
}
