#include "storage/references.hpp"

#include <catch2/catch.hpp>

#include "storage/builds.hpp"
#include "storage/regressions.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

BuildId add_called(Story& story, BuildKind kind, const std::string& version,
                   const std::string& sha) {
  Build build = nightly("2026-08-21");
  build.kind = kind;
  build.version = version;
  build.url = "https://example.org/" + version;
  build.commit = CommitSha::parse(sha + std::string(40 - sha.size(), '0'));
  return add_build(Autocommit(story.db), build).id;
}

std::vector<BuildId> ids_called(const Story& story, const char* text) {
  std::vector<BuildId> ids;
  for (const BuildName& one : builds_called(story.db, text, 9)) ids.push_back(one.id);
  return ids;
}

}  // namespace

TEST_CASE(
    "a whole version goes before those that begin with it, and an overlay has no other name") {
  Story story;
  const BuildId plain = add_called(story, BuildKind::nightly, "9.1.0.dev1", "12341");
  const BuildId longer = add_called(story, BuildKind::nightly, "9.1.0.dev12", "12342");
  const BuildId ci = add_called(story, BuildKind::ci, "9.1.0a0+git12343", "12343");
  const BuildId overlay = add_called(story, BuildKind::overlay, "9.1.0.dev1+12344", "12344");
  CHECK(ids_called(story, "9.1.0.dev1") == std::vector{plain});
  CHECK(ids_called(story, "9.1.0.dev") == std::vector{plain, longer});
  CHECK(ids_called(story, "9.1.0a") == std::vector{ci});
  CHECK(ids_called(story, "12342") == std::vector{longer});
  CHECK(ids_called(story, "12344").empty());
  CHECK(ids_called(story, "9.1.0.dev1+12344") == std::vector{overlay});
  CHECK(ids_called(story, "8").empty());
  CHECK(builds_called(story.db, "9", 2).size() == 2);
}

TEST_CASE("a commit is found by its first digits, whatever kind of build it has") {
  Story story;
  add_called(story, BuildKind::nightly, "9.1.0.dev1", "12341");
  add_called(story, BuildKind::overlay, "9.1.0.dev1+12344", "12344");
  add_called(story, BuildKind::ci, "9.1.0a0", "12341");
  CHECK(commits_beginning_with(story.db, "12341", 9).size() == 1);
  CHECK(commits_beginning_with(story.db, "1234", 9).size() == 2);
  CHECK(commits_beginning_with(story.db, "1234", 1).size() == 1);
  CHECK(commits_beginning_with(story.db, "1235", 9).empty());
}

TEST_CASE("regressions are found by any of several states and of several commits") {
  Story story;
  Regression regression = story.suspect();
  regression.culprit = Culprit{{commit('a'), commit('b')}, .99, 1.2, 1.1, 1.3};
  update_regression(Autocommit(story.db), regression);
  CHECK(blamed_commits(story.db) == std::vector{commit('a'), commit('b')});
  const auto count = [&](const std::vector<RegressionState>& states,
                         const std::optional<std::vector<CommitSha>>& commits) {
    RegressionFilter filter;
    filter.states = states;
    filter.commits = commits;
    return list_regressions(story.db, filter, {}).items.size();
  };
  using enum RegressionState;
  CHECK(count({suspected, blamed}, std::nullopt) == 1);
  CHECK(count({blamed, range}, std::nullopt) == 0);
  CHECK(count({suspected}, std::vector{commit('b'), commit('c')}) == 1);
  CHECK(count({suspected}, std::vector{commit('c')}) == 0);
  CHECK(count({suspected}, std::vector<CommitSha>{}) == 0);
}
