#include "tests/support/literal_graph.hpp"

#include <catch2/catch.hpp>

#include "bisect/git/nightly.hpp"

using namespace nightjar;
using namespace nightjar::git;

TEST_CASE("a literal graph answers as a repository does") {
  LiteralGraph graph;
  const auto first = graph.commit("main", "first", {{"a.py", "1"}, {"b.py", "1"}});
  const auto second = graph.commit("main", "second (#2)", {{"a.py", "2"}});
  const auto third = graph.commit("main", "third", {{"b.py", std::nullopt}, {"c.py", "1"}});
  CHECK(graph.resolve("main") == third);
  CHECK(graph.resolve(first.str()) == first);
  CHECK_FALSE(graph.resolve("nightly"));
  const auto range = graph.range(first, third);
  REQUIRE(range);
  REQUIRE(range->size() == 2);
  CHECK(range->front().sha == second);
  CHECK(range->back().parents == std::vector{second});
  CHECK(range->front().committed_at < range->back().committed_at);
  CHECK_FALSE(graph.range(third, first));

  const auto changes = graph.changed_paths(first, third);
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].kind == ChangedPath::Kind::modified);
  CHECK(changes[1].kind == ChangedPath::Kind::deleted);
  CHECK(changes[2].kind == ChangedPath::Kind::added);
  CHECK(graph.file(second, "a.py") == "2");
  CHECK_FALSE(graph.file(third, "b.py"));
}

TEST_CASE("a release has the tree of main's commit and names it") {
  LiteralGraph graph;
  const auto commit = graph.commit("main", "first", {{"a.py", "1"}});
  const auto release = graph.find(graph.release("nightly", "2026-08-20", commit));
  REQUIRE(release);
  CHECK(release->tree == graph.find(commit)->tree);
  CHECK(release->sha != commit);
  CHECK(parse_nightly_release(release->subject)->main_commit == commit);
}

TEST_CASE("hidden commits are seen after a fetch") {
  LiteralGraph graph;
  const auto first = graph.commit("main", "first");
  graph.hide_until_fetch();
  const auto second = graph.commit("main", "second");
  CHECK(graph.resolve("main") == first);
  CHECK_FALSE(graph.find(second));
  graph.fetch();
  CHECK(graph.fetches() == 1);
  CHECK(graph.resolve("main") == second);
  CHECK(graph.find(second));
}
