#include "service/builds/source_rung.hpp"

#include <catch2/catch.hpp>

#include "storage/base/digest.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/runners.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/autocommit.hpp"
#include "tests/support/literal_graph.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using storage::Autocommit;

namespace {

const std::string some_version = "2.15.0.dev20260820+cpu";

// One commit, and its wheel as a builder sends it. What a test changes makes it a lie.
struct RungWorld {
  git::LiteralGraph graph;
  CommitSha commit = graph.commit("main", "Begin", {{"a", "1"}});
  nightjar::test::ScratchFolder folder;
  nightjar::test::WheelRecipe wheel;
  Project project;
  ToProve asked{{}, commit};

  RungWorld() {
    graph.fetch();
    wheel.version = some_version;
    wheel.git_version = commit.str();
    asked.build.kind = BuildKind::source;
    asked.build.version = some_version;
    asked.build.variant = "cpu";
    asked.build.url = "job:7/" + wheel.file_name();
  }
  Build prove() {
    const auto path = wheel.write(folder.path());
    asked.build.sha256 = digest_of_file(path);
    return prove_from_source(asked, path, graph, project);
  }
};

struct Queue {
  storage::Database db = storage::Database::open_writer(":memory:");
  Sha256 state = digest_of("state");
  Runner builder;
  storage::SourceRequest request;

  Queue()
      : builder(enrol(db)),
        request{state,
                "cpu",
                SourceSpec{"https://example.org/x", *CommitSha::parse(std::string(40, 'a')), "r",
                           digest_of("r")},
                storage::add_night(Autocommit(db), Night{}).id,
                0,
                Time{}} {}
  static Runner enrol(storage::Database& db) {
    const auto machine = storage::intern_machine(Autocommit(db), {{}, digest_of("m"), {}});
    return storage::register_runner(
        Autocommit(db), {{}, "builder", machine.id, {{"build", "only"}}, {}, "1", Time{}});
  }
  Job claim(Time now = Time{}) {
    return storage::claim_job(Autocommit(db), builder, now, now + std::chrono::hours(1)).value();
  }
  void answer(const Job& job, SourceOutcome outcome, std::optional<Build> build = {}) {
    SourceResult result;
    result.outcome = outcome;
    result.reason = build ? "" : "because";
    if (build) result.sha256 = build->sha256;
    if (build) result.wheel_file = "w.whl";
    storage::store_source_result(Autocommit(db), job.id, job.attempt, result, build, Time{});
  }
  BuildOutcome outcome() {
    return build_outcome(db, state, "cpu", request.source.recipe_sha256, request.source.commit);
  }
};

}  // namespace

TEST_CASE("a wheel that is of the commit which was asked for is proved") {
  RungWorld world;
  const Build build = world.prove();
  CHECK(build.reason == "");
  CHECK(build.state == BuildState::proved);
  CHECK(build.commit == world.commit);
}

TEST_CASE("a wheel of another commit, version, package or variant proves nothing") {
  struct Lie {
    std::string reason;
    void (*tell)(RungWorld&);
    BuildState state = BuildState::unproved;
  };
  const Lie lies[] = {
      {"names commit ", [](RungWorld& w) { w.wheel.git_version = std::string(40, 'b'); }},
      {"its METADATA says version", [](RungWorld& w) { w.wheel.metadata_version = "1.0"; },
       BuildState::unusable},
      {"torch/version.py says version", [](RungWorld& w) { w.wheel.file_version = "1.0"; }},
      {"was built for CUDA 13.0", [](RungWorld& w) { w.wheel.cuda = "'13.0'"; }},
      {"it is a wheel of 'torch'", [](RungWorld& w) { w.project.package = "torchvision"; }},
      {"it has no other/version.py",
       [](RungWorld& w) { w.project.version_file = "other/version.py"; }, BuildState::unusable},
      {"is not known here",
       [](RungWorld& w) { w.asked.commit = *CommitSha::parse(std::string(40, 'c')); }},
  };
  for (const Lie& lie : lies) {
    INFO(lie.reason);
    RungWorld world;
    lie.tell(world);
    const Build build = world.prove();
    CHECK(build.state == lie.state);
    CHECK_THAT(build.reason, Contains(lie.reason));
  }
}

TEST_CASE("a wheel that was damaged in the store proves nothing") {
  RungWorld world;
  const auto path = world.wheel.write(world.folder.path());
  world.asked.build.sha256 = digest_of("another");
  CHECK_THAT(prove_from_source(world.asked, path, world.graph, world.project).reason,
             Contains("another hash"));
}

TEST_CASE("without a version file the builder's word for the commit counts") {
  RungWorld world;
  world.project.version_file = "";
  world.wheel.git_version = "";
  CHECK(world.prove().state == BuildState::proved);
}

TEST_CASE("a group is not asked for, being made, made, or cannot be made") {
  Queue queue;
  CHECK(std::holds_alternative<NotAsked>(queue.outcome()));
  storage::request_build(Autocommit(queue.db), queue.request);
  CHECK(std::get<BeingMade>(queue.outcome()).state == JobState::queued);
  const Job job = queue.claim();
  CHECK(std::get<BeingMade>(queue.outcome()).state == JobState::leased);
  Build build;
  build.kind = BuildKind::source;
  build.version = some_version;
  build.variant = "cpu";
  build.sha256 = digest_of("w");
  SECTION("made, once it is proved") {
    queue.answer(job, SourceOutcome::built, build);
    CHECK(std::get<BeingMade>(queue.outcome()).state == JobState::done);
    ToProve next = next_to_prove(queue.db).value();
    CHECK(next.commit == queue.request.source.commit);
    next.build.state = BuildState::proved;
    storage::update_build(Autocommit(queue.db), next.build);
    CHECK(std::get<MadeFromSource>(queue.outcome()).build.id == next.build.id);
    CHECK_FALSE(next_to_prove(queue.db));
  }
  SECTION("put off, if the wheel is wrong") {
    queue.answer(job, SourceOutcome::built, build);
    ToProve next = next_to_prove(queue.db).value();
    next.build.state = BuildState::unproved;
    next.build.reason = "it is of another commit";
    storage::update_build(Autocommit(queue.db), next.build);
    CHECK_THAT(std::get<PutOff>(queue.outcome()).reason, Contains("another commit"));
  }
  SECTION("not to be made") {
    queue.answer(job, SourceOutcome::does_not_compile);
    CHECK(std::get<CannotBeMade>(queue.outcome()).reason == "because");
  }
  SECTION("put off by the infrastructure, until a builder takes it again") {
    queue.answer(job, SourceOutcome::infrastructure);
    const auto put_off = std::get<PutOff>(queue.outcome());
    CHECK(put_off.failures == 1);
    CHECK(put_off.not_before > Time{});
    queue.claim(Time{} + std::chrono::hours(9));
    CHECK(std::holds_alternative<BeingMade>(queue.outcome()));
  }
  SECTION("put off, if a person cancelled it") {
    storage::cancel_job(Autocommit(queue.db), job.id, "called off");
    CHECK(std::get<PutOff>(queue.outcome()).reason == "called off");
    CHECK_FALSE(std::get<PutOff>(queue.outcome()).not_before);
  }
}
