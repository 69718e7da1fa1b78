#include "service/builds/ci/ci_plan.hpp"

#include <catch2/catch.hpp>

#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/ci_lookups.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/literal_graph.hpp"
#include "tests/support/manual_clock.hpp"

using namespace nightjar;
using namespace nightjar::service;
using namespace nightjar::service::ci;

namespace {

const Time plan_time = *parse_rfc3339("2026-08-20T12:00:00Z");

CommitSha commit_number(int number) {
  const std::string digits = std::to_string(number);
  return *CommitSha::parse(std::string(40 - digits.size(), 'c') + digits);
}
Sha256 state_number(int number) {
  const std::string digits = std::to_string(number);
  return *Sha256::parse(std::string(64 - digits.size(), 'd') + digits);
}

Served served(int commit, int state, std::optional<CiLookupState> looked = {}, bool again = false) {
  Served one{commit_number(commit), state_number(state)};
  if (!looked) return one;
  one.lookup = CiLookup{.commit = one.commit};
  one.lookup->state = *looked;
  if (again) one.lookup->retry_at = plan_time;
  return one;
}

std::vector<CommitSha> asked(const std::vector<Served>& commits, bool fetch = true) {
  std::vector<CommitSha> names;
  for (const Served& one : commits_to_ask(commits, fetch, false)) names.push_back(one.commit);
  return names;
}

using Commits = std::vector<CommitSha>;

}  // namespace

TEST_CASE("one commit a native group is asked for, the newest; it may lie apart") {
  CHECK(asked({served(1, 1), served(2, 1), served(3, 2), served(4, 1)}) ==
        Commits{commit_number(4), commit_number(3)});
  Served unknown{commit_number(5)}, other{commit_number(6)};
  CHECK(asked({unknown, other}).size() == 2);
}

TEST_CASE("a group with a wheel, or of which one is looked for, is left alone") {
  using enum CiLookupState;
  Served with_wheel = served(1, 1);
  with_wheel.has_wheel = true;
  CHECK(asked({with_wheel, served(2, 1)}).empty());
  CHECK(asked({served(1, 1, fetched), served(2, 1)}).empty());
  CHECK(asked({served(1, 1, failed, true), served(2, 1)}, false).empty());
  CHECK(asked({served(1, 1, wanted), served(2, 1)}, false).empty());
}

TEST_CASE("after an answer of no the next commit of the group is asked for") {
  using enum CiLookupState;
  CHECK(asked({served(1, 1), served(2, 1), served(3, 1, absent)}) == Commits{commit_number(2)});
  CHECK(asked({served(1, 1), served(3, 1, failed)}) == Commits{commit_number(1)});
  CHECK(asked({served(1, 1, absent), served(3, 1, failed)}).empty());
}

TEST_CASE("a wheel that was only looked for is asked for once it is to be fetched") {
  CHECK(asked({served(1, 1, CiLookupState::found), served(2, 1)}, true) ==
        Commits{commit_number(1)});
  CHECK(asked({served(1, 1, CiLookupState::found), served(2, 1)}, false).empty());
}

namespace {

// Seven commits of main with a nightly of the first; each is a native group of its own.
struct PlanWorld {
  git::LiteralGraph graph;
  Config config;
  storage::Database db = storage::Database::open_writer(":memory:");
  std::vector<CommitSha> commits;
  ManualClock clock{plan_time};
  NativeStateOf unknown = [](const CommitSha&) { return std::nullopt; };

  PlanWorld() {
    for (int i = 0; i < 7; ++i)
      commits.push_back(graph.commit("main", "Commit " + std::to_string(i)));
    graph.fetch();
    Build nightly;
    nightly.version = "2.15.0.dev20260819+cpu";
    nightly.variant = "cpu";
    nightly.date = "2026-08-19";
    nightly.commit = commits[0];
    nightly.state = BuildState::proved;
    storage::write(db, [&](auto& tx) { storage::add_build(tx, nightly); });
  }
  bool plan() {
    const bool searches = plan_for_searches(db, graph, config, config.source, unknown, clock);
    return plan_for_mirror(db, graph, config, config.source, unknown, clock) || searches;
  }
  std::size_t lookups() { return storage::list_ci_lookups(db, {500, {}}).items.size(); }
};

}  // namespace

TEST_CASE_METHOD(PlanWorld, "the mirror asks for the groups of the last days, and for each once") {
  config.source.ci.mirror = {MirrorMode::days, 2};
  CHECK(plan());
  CHECK(lookups() == 6);
  CHECK_FALSE(plan());
  const auto next = storage::next_ci_lookup(db, {"cpu"}, clock.now());
  REQUIRE(next);
  CHECK(next->fetch);
  CHECK_FALSE(next->urgent);
}

TEST_CASE_METHOD(PlanWorld,
                 "nothing is asked for without a search, or for days without a nightly") {
  config.source.ci.mirror = {MirrorMode::searches};
  CHECK_FALSE(plan());
  config.source.ci.mirror = {MirrorMode::days, 2};
  clock.advance(std::chrono::hours(24 * 5));
  CHECK_FALSE(plan());
  CHECK(lookups() == 0);
}

namespace {

// An open search over commits a, b and c.
struct SearchWorld {
  storage::test::Story story;
  git::LiteralGraph graph;
  Config config;
  ManualClock clock{plan_time};
  BisectionId search;
  const CommitSha middle = storage::test::commit('b');

  SearchWorld() {
    const Regression regression = story.suspect();
    Bisection bisection;
    bisection.regression = regression.id;
    bisection.series = regression.series[0].series;
    bisection.commits = {storage::test::commit('a'), middle, storage::test::commit('c')};
    bisection.good = story.good.id;
    bisection.bad = story.bad.id;
    storage::write(story.db, [&](auto& tx) { search = storage::add_bisection(tx, bisection).id; });
  }
  std::optional<CiLookup> plan() {
    plan_for_searches(
        story.db, graph, config, config.source, [](auto&) { return std::nullopt; }, clock);
    return storage::find_ci_lookup(story.db, middle, "cpu");
  }
};

}  // namespace

TEST_CASE_METHOD(SearchWorld, "wheels of an open search's commits are fetched, and urgent") {
  const auto lookup = plan();
  REQUIRE(lookup);
  CHECK(lookup->fetch);
  CHECK(lookup->urgent);
}

TEST_CASE_METHOD(SearchWorld, "a search is planned for by the source of its variant alone") {
  config.source.variant = "cu130";
  CHECK_FALSE(plan());
  CHECK_FALSE(storage::find_ci_lookup(story.db, middle, "cu130"));
}

TEST_CASE_METHOD(SearchWorld, "with the mirror off only what had no build is fetched") {
  config.source.ci.mirror = {MirrorMode::off};
  CHECK_FALSE(plan()->fetch);
  storage::write(story.db, [&](auto& tx) {
    storage::add_untestable(
        tx, search,
        {1, UntestableCause::no_build_here, "torch/csrc/a.cpp differs and needs a native build"});
  });
  CHECK(plan()->fetch);
}

TEST_CASE_METHOD(SearchWorld, "a wheel that serves an open search is pinned, also as its group's") {
  CiLookup lookup = *plan();
  Build build;
  build.kind = BuildKind::ci;
  build.version = "2.15.0a0+git7654321";
  build.sha256 = Sha256::parse(std::string(64, 'e'));
  storage::write(story.db, [&](auto& tx) {
    build = storage::add_build(tx, build);
    lookup.state = CiLookupState::fetched;
    lookup.build = build.id;
    storage::note_ci_look(tx, lookup);
  });
  CHECK(storage::ci_builds_of_open_searches(story.db) == std::vector{build.id});
}
