// What must not end in a wrong verdict, or keep others waiting.
#include <utility>

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using namespace nightjar::service::test;

TEST_CASE("A lost copy of the repository delays confirmation and search, with no wrong verdict") {
  NightWorld world;
  world.level = [](int position, const std::string&, const std::string& metric) {
    return metric == "latency" ? (position >= 3 ? .013 : .010) : 3e8;
  };
  world.nightly("2026-08-19");
  world.settle();
  world.grow(5);
  world.nightly("2026-08-20");
  git::LiteralGraph kept = std::exchange(world.graph, git::LiteralGraph());
  world.settle();
  const auto states = [&] {
    std::vector<RegressionState> found;
    for (const Regression& one : storage::list_regressions(world.db, {}, {}).items)
      found.push_back(one.state);
    return found;
  };
  REQUIRE_FALSE(states().empty());
  // Whether one wheel serves both ends, only the repository knows.
  for (const RegressionState state : states()) CHECK(state == RegressionState::suspected);
  world.graph = std::move(kept);
  world.settle();
  int reported = 0;
  for (const Regression& one : storage::list_regressions(world.db, {}, {}).items) {
    if (one.state != RegressionState::reported) continue;
    ++reported;
    REQUIRE(one.culprit);
    CHECK(one.culprit->commits == std::vector<CommitSha>{world.commits[3]});
  }
  CHECK(reported == 1);
}

TEST_CASE("An item that fails does not keep those behind it from their turn") {
  NightWorld world;
  EngineContext context = world.context();
  std::vector<Night> nights(3);
  for (int i = 0; i < 3; ++i) nights[static_cast<std::size_t>(i)].id = NightId{i + 1};
  std::vector<NightId> taken;
  const auto step = [&](const Night& night) {
    if (night.id == NightId{2}) throw std::runtime_error("no such build");
    taken.push_back(night.id);
    return night.id == NightId{3};
  };
  CHECK(for_each_item(context, "night", nights, step));
  CHECK(taken == std::vector<NightId>{NightId{1}, NightId{3}});
  CHECK(context.complaints.current() ==
        std::map<std::string, std::string>{{"night 2", "no such build"}});
}
