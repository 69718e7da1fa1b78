#include "storage/builds.hpp"

#include <catch2/catch.hpp>

#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("a build that is seen again is the one that is there") {
  Story story;
  Build again = story.bad;
  again.id = {};
  again.state = BuildState::found;
  again.reason = "seen again";
  const Build stored = add_build(Autocommit(story.db), again);
  CHECK(stored.id == story.bad.id);
  CHECK(stored.state == BuildState::proved);
  CHECK(stored.reason.empty());
  again.url += "?other";
  CHECK(add_build(Autocommit(story.db), again).id != story.bad.id);
}

TEST_CASE("a build keeps every field") {
  Story story;
  Build build = nightly("2026-08-21");
  build.kind = BuildKind::overlay;
  build.commit = commit('a');
  build.nightly_commit = commit('b');
  build.sha256 = sha256('c');
  build.base = story.good.id;
  build.state = BuildState::unproved;
  build.reason = "the wheel's hash differs";
  build.id = add_build(Autocommit(story.db), build).id;
  const auto check = [&](const Build& stored) {
    CHECK(stored.id == build.id);
    CHECK(stored.kind == build.kind);
    CHECK(stored.version == build.version);
    CHECK(stored.variant == build.variant);
    CHECK(stored.date == build.date);
    CHECK(stored.url == build.url);
    CHECK(stored.commit == build.commit);
    CHECK(stored.nightly_commit == build.nightly_commit);
    CHECK(stored.sha256 == build.sha256);
    CHECK(stored.base == build.base);
    CHECK(stored.state == build.state);
    CHECK(stored.reason == build.reason);
    CHECK(stored.found_at == build.found_at);
  };
  check(*find_build(story.db, build.id));
  build.state = BuildState::unusable;
  build.reason = "it does not import";
  build.commit = std::nullopt;
  update_build(Autocommit(story.db), build);
  check(*find_build(story.db, build.id));
  CHECK_FALSE(find_build(story.db, BuildId{999}));
}

TEST_CASE("the newest proved nightly is the one of the latest date, then of the higher version") {
  Story story;
  CHECK(newest_proved(story.db, "cpu")->id == story.bad.id);
  CHECK_FALSE(newest_proved(story.db, "cu130"));
  const Build nine = add_build(Autocommit(story.db), nightly("2026-08-21", "2.9.0"));
  CHECK(newest_proved(story.db, "cpu")->id == nine.id);
  const Build ten = add_build(Autocommit(story.db), nightly("2026-08-21", "2.10.0"));
  CHECK(newest_proved(story.db, "cpu")->id == ten.id);
  add_build(Autocommit(story.db), nightly("2026-08-21", "2.8.0"));
  CHECK(newest_proved(story.db, "cpu")->id == ten.id);

  Build later = nightly("2026-08-22");
  later.state = BuildState::found;
  add_build(Autocommit(story.db), later);
  later = nightly("2026-08-23");
  later.kind = BuildKind::ci;
  add_build(Autocommit(story.db), later);
  add_build(Autocommit(story.db), nightly("2026-08-24", "2.15.0", "cu130"));
  CHECK(newest_proved(story.db, "cpu")->id == ten.id);
  CHECK(builds_in_state(story.db, BuildState::found).size() == 1);
}

TEST_CASE("a commit's overlay is found by commit, variant and kind") {
  Story story;
  Build overlay = nightly("2026-08-21");
  overlay.kind = BuildKind::overlay;
  overlay.base = add_build(Autocommit(story.db), nightly("2026-08-20")).id;
  overlay.commit = commit('a');
  overlay.id = add_build(Autocommit(story.db), overlay).id;
  REQUIRE(overlays_of_commit(story.db, commit('a'), "cpu").size() == 1);
  CHECK(overlays_of_commit(story.db, commit('a'), "cpu").front().id == overlay.id);
  for (const Build& build : builds_of_commit(story.db, commit('a')))
    CHECK(build.kind != BuildKind::source);
  CHECK(overlays_of_commit(story.db, commit('a'), "cu130").empty());
  CHECK(overlays_of_commit(story.db, commit('b'), "cpu").empty());
}

TEST_CASE("pages list every build once, newest first") {
  Story story;
  for (int day = 1; day <= 9; ++day)
    add_build(Autocommit(story.db), nightly("2026-09-0" + std::to_string(day)));
  std::vector<std::int64_t> seen;
  PageRequest request{4, std::nullopt};
  int pages = 0;
  do {
    const auto page = list_builds(story.db, request);
    for (const Build& build : page.items) seen.push_back(build.id.value);
    request.before = page.next;
    ++pages;
  } while (request.before);
  CHECK(pages == 3);
  CHECK(seen == std::vector<std::int64_t>{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
}

TEST_CASE("a last page that is full has no next one, and limits are kept within reason") {
  Story story;
  CHECK_FALSE(list_builds(story.db, {2, std::nullopt}).next);
  CHECK(list_builds(story.db, {1, std::nullopt}).next == 2);
  CHECK(list_builds(story.db, {0, std::nullopt}).items.size() == 1);
  CHECK(list_builds(story.db, {-5, std::nullopt}).items.size() == 1);
  CHECK(list_builds(story.db, {1'000'000, std::nullopt}).items.size() == 2);
  CHECK(list_builds(story.db, {50, 1}).items.empty());
}

TEST_CASE("a wheel is found by what its commit's compiled files depend on, wherever it lies") {
  Story story;
  Database& db = story.db;
  const auto state = [](char commit_digit, char native, char library) {
    return CommitState{commit(commit_digit), 1, sha256(native), sha256(library)};
  };
  const auto wheel = [&](char commit_digit, BuildKind kind, BuildState standing) {
    Build build = nightly("2026-08-2" + std::to_string(static_cast<int>(kind)));
    build.version += commit_digit;
    build.kind = kind;
    build.commit = commit(commit_digit);
    build.sha256 = sha256(commit_digit);
    build.state = standing;
    if (kind == BuildKind::overlay) build.base = story.good.id;
    return add_build(Autocommit(db), build).id;
  };
  const BuildId ci = wheel('1', BuildKind::ci, BuildState::proved);
  const BuildId source = wheel('2', BuildKind::source, BuildState::proved);
  wheel('1', BuildKind::overlay, BuildState::proved);
  wheel('2', BuildKind::nightly, BuildState::unproved);
  const BuildId header = wheel('3', BuildKind::ci, BuildState::proved);
  for (const CommitState& one : {state('1', 'a', 'c'), state('2', 'a', 'c'), state('3', 'b', 'c'),
                                 CommitState{commit('4'), 2, sha256('a'), sha256('c')}})
    add_commit_state(Autocommit(db), one);
  add_commit_state(Autocommit(db), state('1', 'f', 'f'));  // written once

  CHECK(find_commit_state(db, commit('1'), 1)->native == sha256('a'));
  CHECK(find_commit_state(db, commit('1'), 1)->library == sha256('c'));
  CHECK_FALSE(find_commit_state(db, commit('1'), 2));
  const auto ids = [](const std::vector<Build>& builds) {
    std::vector<BuildId> list;
    for (const Build& build : builds) list.push_back(build.id);
    return list;
  };
  const CommitState wanted = state('9', 'a', 'c');
  CHECK(ids(wheels_of_native_group(db, "cpu", wanted)) == std::vector{source, ci});
  CHECK(ids(wheels_of_same_libraries(db, "cpu", wanted)) == std::vector{header, source, ci});
  CHECK(wheels_of_native_group(db, "cu130", wanted).empty());
  CommitState other_rules = wanted;
  other_rules.rules = 3;
  CHECK(wheels_of_native_group(db, "cpu", other_rules).empty());
  REQUIRE(overlays_of_commit(db, commit('1'), "cpu").size() == 1);
  CHECK(overlays_of_commit(db, commit('1'), "cpu")[0].base == story.good.id);
}
