#include "service/builds/ci/ci_rung.hpp"

#include <catch2/catch.hpp>

#include "service/builds/ci/ci_plan.hpp"
#include "storage/builds.hpp"
#include "storage/ci_lookups.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/ci/double.hpp"
#include "tests/support/literal_graph.hpp"
#include "tests/support/manual_clock.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nlohmann::json;
using enum CiLookupState;

namespace {

// A repository, CI's double, and a rung between them and a database.
struct RungWorld {
  tests::CiDouble& ci = tests::CiDouble::fresh();
  nightjar::test::ScratchFolder folder;
  git::LiteralGraph graph;
  CommitSha before = graph.commit("main", "Before", {{"torch/csrc/a.cpp", "1"}});
  CommitSha head = graph.commit("main", "Change C++", {{"torch/csrc/a.cpp", "2"}});
  CommitSha after = graph.commit("main", "Change Python", {{"torch/a.py", "1"}});
  std::map<CommitSha, Sha256> states;
  Config config;
  ManualClock clock{graph.find(after)->committed_at + std::chrono::hours(48)};
  Artifacts artifacts{folder / "artifacts", 64 << 20, clock};
  storage::Database db = storage::Database::open_writer(":memory:");

  RungWorld() {
    graph.fetch();
    config.repository.url = "the repository";
    config.source.ci.environments = {"linux-jammy-py3.*-gcc11"};
    config.source.ci.api = ci.api();
    config.source.ci.bucket = ci.bucket();
    config.source.ci.repository = tests::CiDouble::repository;
    config.source.ci.wheel_bytes = 4 << 20;
    ci.run(1, head);
  }
  ~RungWorld() {
    CHECK(ci.violations() == json::array());
    CHECK(leftovers() == 0);
  }
  std::ptrdiff_t leftovers() const {
    std::ptrdiff_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "artifacts"))
      count += entry.path().filename().string().starts_with("tmp-");
    return count;
  }
  void publish(const json& more = json::object(), const char* flaw = nullptr) {
    ci.archive(tests::CiDouble::key(1), {tests::CiDouble::wheel(head, more)}, flaw);
  }
  CiLookup want(const CommitSha& commit, bool fetch = true) {
    CiLookup wanted{.commit = commit, .variant = "cpu"};
    wanted.fetch = fetch;
    wanted.wanted_at = clock.now();
    return storage::write(db, [&](auto& tx) { return storage::want_ci_wheel(tx, wanted); });
  }
  // What is due is looked at, as the daemon does it, by a rung that knows nothing of before.
  CiLookup look() {
    const auto due = storage::next_ci_lookup(db, {"cpu"}, clock.now());
    REQUIRE(due);
    ci::CiRung rung(
        config, config.source, graph, artifacts,
        [this](const CommitSha& commit) -> std::optional<Sha256> {
          const auto known = states.find(commit);
          return known == states.end() ? std::nullopt : std::optional(known->second);
        },
        clock);
    const ci::Finding finding = rung.look(*due);
    storage::write(db, [&](auto& tx) { ci::apply(tx, finding); });
    return *storage::find_ci_lookup(db, due->commit, "cpu");
  }
  // The fault is over: the next look, when its time has come, finds the wheel.
  void expect_recovery(const CiLookup& lookup) {
    REQUIRE(lookup.retry_at);
    CHECK_FALSE(storage::next_ci_lookup(db, {"cpu"}, *lookup.retry_at - std::chrono::seconds(1)));
    clock.advance(*lookup.retry_at - clock.now());
    CHECK(look().state == fetched);
  }
};

}  // namespace

TEST_CASE_METHOD(RungWorld, "the wheel of a commit is found, fetched, proved and kept") {
  publish();
  want(head);
  const CiLookup lookup = look();
  CHECK(lookup.state == fetched);
  CHECK_FALSE(lookup.retry_at);
  CHECK(lookup.bytes > 0);
  CHECK_THAT(lookup.looked_at, Contains("actions/runs?head_sha=" + head.str() + ": 1 runs") &&
                                   Contains("1 of the configured environments"));
  const Build build = *storage::find_build(db, *lookup.build);
  CHECK(build.kind == BuildKind::ci);
  CHECK(build.state == BuildState::proved);
  CHECK(build.version == "2.15.0a0+git" + head.str().substr(0, 7));
  CHECK(build.commit == head);
  CHECK(build.nightly_commit == head);
  CHECK(build.needs.python_tag == "cp311");
  CHECK(build.needs.gpu_architectures == "");
  CHECK(artifacts.holds(*build.sha256));
}

TEST_CASE_METHOD(RungWorld,
                 "a wheel that is only looked for is found, and fetched once it is wanted") {
  publish({{"payload_bytes", 200'000}});
  want(head, false);
  const CiLookup there = look();
  CHECK(there.state == found);
  CHECK(there.bytes < (100 << 10));
  CHECK_FALSE(storage::next_ci_lookup(db, {"cpu"}, clock.now()));
  want(head, true);
  CHECK(look().state == fetched);
}

TEST_CASE_METHOD(RungWorld, "a wheel that was asked for while it was looked at is due at once") {
  publish();
  const CiLookup due = want(head, false);
  ci::CiRung rung(
      config, config.source, graph, artifacts, [](auto&) { return std::nullopt; }, clock);
  const ci::Finding finding = rung.look(due);
  want(head, true);
  storage::write(db, [&](auto& tx) { ci::apply(tx, finding); });
  CHECK(look().state == fetched);
}

TEST_CASE_METHOD(RungWorld,
                 "each fault of API and bucket ends as a state, and the next look goes on") {
  struct Row {
    const char* where;
    const char* kind;
    int times;  // what breaks off is tried again within a look
  };
  const auto row = GENERATE(values<Row>({{"GET /api", "403_retry_after", 2},
                                         {"GET /api", "403_limit", 2},
                                         {"GET /api", "404", 2},
                                         {"GET /bucket/\\?", "404", 2},
                                         {"GET /bucket/\\?", "cut_within", 2},
                                         {"GET /bucket/\\?", "half_xml", 2},
                                         {"HEAD /bucket", "403_retry_after", 2},
                                         {"GET /bucket/pytorch", "403_retry_after", 2},
                                         {"GET /bucket/pytorch", "503", 2},
                                         {"GET /bucket/pytorch", "cut_before", 3},
                                         {"GET /bucket/pytorch", "ignore_range", 2},
                                         {"HEAD /bucket", "replace", 1}}));
  INFO(row.where << " " << row.kind);
  publish();
  want(head);
  ci.fault(row.where, row.kind, row.times, 600);
  const CiLookup lookup = look();
  CHECK(lookup.state == failed);
  CHECK_FALSE(lookup.reason.empty());
  if (std::string(row.kind) == "403_retry_after")
    CHECK(*lookup.retry_at >= clock.now() + std::chrono::seconds(600));
  while (ci.state()["faults_left"] > 0) {
    clock.advance(*storage::find_ci_lookup(db, head, "cpu")->retry_at - clock.now());
    CHECK(look().state == failed);
  }
  expect_recovery(*storage::find_ci_lookup(db, head, "cpu"));
}

TEST_CASE_METHOD(RungWorld,
                 "an object that expires between HEAD and GET is absent at the next look") {
  publish();
  want(head);
  ci.fault("HEAD /bucket", "expire");
  const CiLookup lookup = look();
  CHECK(lookup.state == failed);
  CHECK_THAT(lookup.reason, Contains("answered 404"));
  clock.advance(*lookup.retry_at - clock.now());
  const CiLookup next = look();
  CHECK(next.state == absent);
  CHECK_THAT(next.reason, Contains("none has an archive of these environments"));
  CHECK_FALSE(storage::next_ci_lookup(db, {"cpu"}, clock.now() + std::chrono::hours(10'000)));
}

TEST_CASE_METHOD(RungWorld,
                 "what cannot be used is refused, and a good one in its place is taken") {
  struct Row {
    const char* flaw;
    const char* reason;
    json more;
  };
  const json big{{"payload_bytes", 5 << 20}};
  const auto row = GENERATE_COPY(
      values<Row>({{"crc", "another CRC-32", {}},
                   {"bomb", "unpacks to more than the 1000 bytes", {}},
                   {"truncated", "no whole zip archive", {}},
                   {nullptr, "more than the 4194304 that are allowed", big},
                   {nullptr, "is not on main", {{"git_version", std::string(40, '7')}}},
                   {nullptr, "should be of variant cpu", {{"cuda", "13.0"}}}}));
  INFO(row.reason);
  publish(row.more.is_null() ? json::object() : row.more, row.flaw);
  want(head);
  const CiLookup lookup = look();
  CHECK(lookup.state == failed);
  CHECK_THAT(lookup.reason, Contains(row.reason));
  CHECK(storage::builds_in_state(db, BuildState::proved).empty());
  CHECK(artifacts.size_bytes() == 0);
  publish();
  expect_recovery(lookup);
}

TEST_CASE_METHOD(RungWorld,
                 "a wheel of another commit or for another Python is none of this commit") {
  const json more = GENERATE_COPY(
      values<json>({{{"version", "2.15.0a0+git7777777"}}, {{"python_tag", "cp312"}}}));
  publish(more);
  want(head);
  const CiLookup lookup = look();
  CHECK(lookup.state == absent);
  CHECK_THAT(lookup.reason, Contains("of another commit than") || Contains("not for cp311"));
}

TEST_CASE_METHOD(RungWorld, "a broken archive does not hide a good one of another environment") {
  publish(json::object(), "crc");
  ci.archive(tests::CiDouble::key(1, "linux-jammy-py3.12-gcc11"), {tests::CiDouble::wheel(head)});
  want(head);
  CHECK(look().state == fetched);
}

TEST_CASE_METHOD(RungWorld, "a wheel is not absent while a run goes on") {
  ci.run(2, head, {{"status", "in_progress"}});
  want(head);
  const CiLookup lookup = look();
  CHECK(lookup.state == failed);
  CHECK(lookup.reason == "1 of its 2 runs are not finished yet");
  publish();
  expect_recovery(lookup);
}

TEST_CASE_METHOD(RungWorld,
                 "a wheel that CI reused is proved if its native state is the commit's") {
  ci.run(3, after);
  ci.archive(tests::CiDouble::key(3),
             {tests::CiDouble::wheel(after, {{"git_version", head.str()}})});
  const Sha256 old_state = *Sha256::parse(std::string(64, '1')),
               new_state = *Sha256::parse(std::string(64, '2'));
  want(after);
  CHECK_THAT(look().reason, Contains("their native states are not known"));
  states = {{before, old_state}, {head, old_state}, {after, new_state}};
  clock.advance(std::chrono::hours(1));
  CHECK_THAT(look().reason, Contains("whose native state is not that of"));
  states.at(head) = new_state;
  clock.advance(std::chrono::hours(1));
  const CiLookup lookup = look();
  REQUIRE(lookup.state == fetched);
  const Build build = *storage::find_build(db, *lookup.build);
  CHECK(build.commit == after);
  CHECK(build.nightly_commit == head);
}

TEST_CASE_METHOD(RungWorld, "an evicted wheel is brought back, and only as it was") {
  publish();
  want(head);
  const Build build = *storage::find_build(db, *look().build);
  std::filesystem::remove(*artifacts.path(*build.sha256));
  ci::CiRung rung(
      config, config.source, graph, artifacts, [](auto&) { return std::nullopt; }, clock);
  rung.restore(build);
  REQUIRE(artifacts.holds(*build.sha256));
  std::filesystem::remove(*artifacts.path(*build.sha256));
  publish({{"payload_bytes", 10}});
  CHECK_THROWS_WITH(rung.restore(build), Contains("not the same as when it was proved"));
}
