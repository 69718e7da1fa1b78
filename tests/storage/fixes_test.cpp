#include "storage/fixes.hpp"

#include <catch2/catch.hpp>

#include "storage/bisections.hpp"
#include "storage/connection.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

FixSearch fix_of_night(Story& story) {
  if (!find_job(story.db, "better")) story.measure("better");
  FixSearch fix;
  fix.night = story.night.id;
  fix.machine = story.machine.id;
  fix.before = story.good.id;
  fix.build = story.bad.id;
  fix.series = story.latency().id;
  fix.opened_at = at(40);
  return fix;
}

Bisection search_of(const FixSearch& fix) {
  Bisection search;
  search.fix = fix.id;
  search.series = fix.series;
  search.good = *fix.before;
  search.bad = fix.build;
  search.commits = {commit('a'), commit('b')};
  search.started_at = at(40);
  return search;
}

}  // namespace

TEST_CASE("a fix is searched once on a machine class, and belongs to no regression") {
  Story story;
  const FixSearch fix = add_fix_search(Autocommit(story.db), fix_of_night(story));
  CHECK(add_fix_search(Autocommit(story.db), fix_of_night(story)).id == fix.id);
  CHECK(fix.before == story.good.id);
  CHECK_FALSE(fix.not_searched);
  const Bisection search = add_bisection(Autocommit(story.db), search_of(fix));
  CHECK(add_bisection(Autocommit(story.db), search_of(fix)).id == search.id);
  CHECK(search.fix == fix.id);
  CHECK_FALSE(search.regression);
  CHECK(bisection_of(story.db, fix.id)->commits == search.commits);
  CHECK(fix_search_of(story.db, story.bad.id, story.machine.id)->id == fix.id);
  CHECK_FALSE(fix_search_of(story.db, story.good.id, story.machine.id));
}

TEST_CASE("what the search of a fix named is stored once, cause by cause") {
  Story story;
  FixSearch fix = add_fix_search(Autocommit(story.db), fix_of_night(story));
  fix.evidence = R"({"stage":"bisection"})";
  fix.causes = {{{{commit('a'), commit('b')}, .75, 1.5, 1.4, 1.6}, true},
                {{{commit('c')}, .99, 1.2, 1.1, 1.3}, false}};
  end_fix_search(Autocommit(story.db), fix);
  CHECK_THROWS_AS(end_fix_search(Autocommit(story.db), fix), Error);
  const FixSearch stored = *find_fix_search(story.db, fix.id);
  CHECK(stored.evidence == fix.evidence);
  REQUIRE(stored.causes.size() == 2);
  CHECK(stored.causes[0].is_range);
  CHECK(stored.causes[0].commits.commits == fix.causes[0].commits.commits);
  CHECK(stored.causes[0].commits.probability == .75);
  CHECK_FALSE(stored.causes[1].is_range);
  CHECK(stored.causes[1].commits.high == 1.3);
}

TEST_CASE("a search belongs to a regression or a fix, never to both or neither") {
  Story story;
  const FixSearch fix = add_fix_search(Autocommit(story.db), fix_of_night(story));
  Bisection search = search_of(fix);
  search.regression = story.suspect().id;
  CHECK_THROWS_AS(add_bisection(Autocommit(story.db), search), Error);
  add_bisection(Autocommit(story.db), search_of(fix));
  CHECK_THROWS_AS(story.db.impl().execute("UPDATE bisection SET fix = NULL"), Error);
}

TEST_CASE("a fix without a build before it is not searched, and says why") {
  Story story;
  FixSearch fix = fix_of_night(story);
  fix.before.reset();
  CHECK_THROWS_AS(add_fix_search(Autocommit(story.db), fix), Error);
  fix.not_searched = FixNotSearched::no_range;
  CHECK(add_fix_search(Autocommit(story.db), fix).not_searched == FixNotSearched::no_range);
}
