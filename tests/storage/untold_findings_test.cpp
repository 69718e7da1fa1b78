#include "storage/untold_findings.hpp"

#include <catch2/catch.hpp>

#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("findings wait in the order in which they joined, until their issue has heard of them") {
  Story story;
  std::vector<Regression> found{story.suspect()};
  for (const int part : {1, 2}) {
    Regression further = found[0];
    further.id = {};
    further.part = part;
    found.push_back(
        add_regression(Autocommit(story.db), further, {RegressionState::bisecting, at(40), "{}"}));
  }
  add_untold(Autocommit(story.db), {found[2].id, at(50)});
  add_untold(Autocommit(story.db), {found[1].id, at(60)});
  add_untold(Autocommit(story.db), {found[2].id, at(70)});  // it waits already
  auto waiting = untold_findings(story.db);
  REQUIRE(waiting.size() == 2);
  CHECK(waiting[0].regression == found[2].id);
  CHECK(waiting[0].joined_at == at(50));
  CHECK(waiting[1].regression == found[1].id);
  remove_untold(Autocommit(story.db), found[2].id);
  waiting = untold_findings(story.db);
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].regression == found[1].id);
}
