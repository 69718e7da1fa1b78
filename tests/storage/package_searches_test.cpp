#include "storage/package_searches.hpp"

#include <catch2/catch.hpp>

#include "storage/locks.hpp"
#include "tests/storage/story.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

struct Searched : Story {
  Regression regression = suspect();
  PackageSearch search;

  Searched() {
    add_lock(Autocommit(db), {sha256('a'), "numpy==2.1.0", {{"numpy", "2.1.0"}}}, at(0));
    search.regression = regression.id;
    search.question = PackageQuestion::versions;
    search.state = PackageSearchState::listing;
    search.series = latency().id;
    search.wheel = good.id;
    search.held = LockedPackage{"sympy", ""};
    search.mixes = {{{}, MixState::locked, sha256('a')}, {{"numpy", "2.1.4"}}};
    search.started_at = at(5);
  }
};

}  // namespace

TEST_CASE("a search among packages is read as it was stored") {
  Searched story;
  PackageSearch stored = add_package_search(Autocommit(story.db), story.search);
  stored.state = PackageSearchState::found;
  stored.mixes.insert(stored.mixes.begin() + 1,
                      {{"numpy", "2.1.2"}, MixState::inconsistent, {}, "sympy wants another"});
  stored.found = {{1, 2, .99, 1.2, 1.1, 1.3}};
  stored.posterior = {{1, 2, .99}};
  stored.rule = "one step";
  stored.runs = 40;
  stored.not_before = at(60);
  stored.finished_at = at(90);
  update_package_search(Autocommit(story.db), stored);
  const auto read = find_package_search(story.db, stored.id);
  REQUIRE(read);
  CHECK(read->question == PackageQuestion::versions);
  CHECK(read->state == PackageSearchState::found);
  CHECK(read->held == LockedPackage{"sympy", ""});
  REQUIRE(read->mixes.size() == 3);
  CHECK(read->mixes[0].lock == sha256('a'));
  CHECK(read->mixes[1].state == MixState::inconsistent);
  CHECK(read->mixes[1].reason == "sympy wants another");
  CHECK(read->mixes[2].changed == LockedPackage{"numpy", "2.1.4"});
  REQUIRE(read->found.size() == 1);
  CHECK(read->found[0].last == 2);
  CHECK(read->posterior == stored.posterior);
  CHECK(read->runs == 40);
  CHECK(read->not_before == at(60));
  CHECK(read->finished_at == at(90));
}

TEST_CASE("a search is stored once a number, and is open until it ends") {
  Searched story;
  const PackageSearch first = add_package_search(Autocommit(story.db), story.search);
  CHECK(add_package_search(Autocommit(story.db), story.search).id == first.id);
  CHECK(open_package_searches(story.db).size() == 1);
  PackageSearch next = story.search;
  next.number = 1;
  next.state = PackageSearchState::adjacent;
  add_package_search(Autocommit(story.db), next);
  CHECK(open_package_searches(story.db).size() == 1);
  CHECK(package_searches_of(story.db, story.regression.id).size() == 2);
}

TEST_CASE("packages are searched once it is noted, and where pins moved is kept in order") {
  Searched story;
  const RegressionId id = story.regression.id;
  set_attribution(Autocommit(story.db), id, {Cause::environment, {}, {}, {}});
  CHECK_FALSE(packages_are_searched(story.db, id));
  end_package_searches(Autocommit(story.db), id, at(9));
  CHECK(packages_are_searched(story.db, id));
  const std::vector<PinMove> moves{{commit('b'), "requirements.txt"}, {commit('a'), "pins/triton"}};
  set_pin_moves(Autocommit(story.db), id, moves);
  CHECK(pin_moves_of(story.db, id) == moves);
}
