// Searches that ask builders for wheels, and what they wait for.
#include <catch2/catch.hpp>

#include "service/builds/overlay.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "service/engine/search/prospects.hpp"
#include "storage/base/digest.hpp"
#include "storage/ci_lookups.hpp"
#include "storage/source_builds.hpp"
#include "storage/statement.hpp"
#include "tests/service/engine/search/day.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using service::test::Day;

namespace {

// What came of asking a builder for the wheel of main's commit at this position.
using Builder = std::function<SourceOutcome(int position)>;

struct BuilderDay : Day {
  Builder answers = [](int) { return SourceOutcome::built; };
  std::vector<int> asked;  // positions, in order

  BuilderDay() {
    config.project.recipe = "name = \"test\"";
    config.project.recipe_sha256 = digest_of(config.project.recipe);
    make_build = [this](const Job& job) { answer(job); };
  }
  void add_builder(const std::string& name = "builder") {
    Runner made = enrol(name);
    made.labels["build"] = "only";
    made.workloads = {};
    others.push_back(storage::register_runner(storage::Autocommit(db), made));
  }
  void answer(const Job& job) {
    const int at = position(job.spec.source->commit);
    asked.push_back(at);
    CHECK(job.spec.source->repository == config.repository.url);
    clock.advance(std::chrono::minutes(5));
    SourceResult result;
    result.outcome = answers(at);
    result.seconds = 300;
    std::optional<Build> wheel;
    if (result.outcome == SourceOutcome::built) {
      const auto file = artifacts.temporary();
      std::ofstream(file) << "source " << at;
      result.wheel_file = "torch.whl";
      wheel.emplace();
      wheel->kind = BuildKind::source;
      wheel->version = "2.14.0a0+git" + std::to_string(at);
      wheel->variant = "cpu";
      wheel->url = "job:" + std::to_string(job.id.value) + "/torch.whl";
      wheel->commit = job.spec.source->commit;
      wheel->sha256 = result.sha256 = artifacts.add(file);
      wheel->state = BuildState::proved;
      read_wheel(*wheel->sha256);
      wheel->found_at = clock.now();
    } else {
      result.reason = "because of " + std::to_string(at);
    }
    storage::store_source_result(storage::Autocommit(db), job.id, job.attempt, result, wheel,
                                 clock.now());
  }
  std::vector<Untestable> untestable() { return storage::untestable_of(db, search().id); }
};

const std::string one_day = "p p p p p n n n n n n p p p p p p";  // 6 to 11 are native

}  // namespace

TEST_CASE_METHOD(BuilderDay, "a search asks a builder for native commits and names the culprit") {
  add_builder();
  run(one_day, 9);
  CHECK(search().state == BisectionState::culprit);
  REQUIRE(regression().culprit);
  CHECK(regression().culprit->commits == std::vector{commits[9]});
  CHECK(asked.size() <= 4);  // of the six groups that have no wheel
  for (const int position : asked) CHECK((position >= 6 && position <= 10));
  CHECK(std::set<int>(asked.begin(), asked.end()).size() == asked.size());
  CHECK(untestable().empty());
}

TEST_CASE_METHOD(BuilderDay, "several builders work beside the search's own measurements") {
  for (const char* name : {"one", "two", "three"}) add_builder(name);
  int at_once = 0;
  after_tick = [&] {
    for (const Bisection& open : storage::open_bisections(db))
      at_once = std::max(at_once, storage::builds_for_search(db, open.id));
  };
  run(one_day, 9);
  CHECK(at_once >= 2);
  CHECK(regression().culprit->commits == std::vector{commits[9]});
  CHECK(std::set<int>(asked.begin(), asked.end()).size() == asked.size());
}

TEST_CASE_METHOD(BuilderDay, "a commit that does not compile is named with its neighbour") {
  add_builder();
  answers = [](int at) { return at == 8 ? SourceOutcome::does_not_compile : SourceOutcome::built; };
  run(one_day, 9);
  REQUIRE(regression().culprit);
  CHECK(regression().culprit->commits == between(8, 9));
  const auto broken = untestable();
  REQUIRE(broken.size() == 1);
  CHECK(broken[0].commit == 8);
  CHECK(broken[0].cause == UntestableCause::does_not_compile);
  CHECK_THAT(broken[0].reason, Contains("because of 8; its log: /api/v1/jobs/"));
}

TEST_CASE_METHOD(BuilderDay, "a failure of the infrastructure is waited through") {
  add_builder();
  int failures = 0;
  answers = [&](int at) {
    return at == 8 && ++failures <= 2 ? SourceOutcome::infrastructure : SourceOutcome::built;
  };
  config.queue.runner_silent = std::chrono::hours(2);
  before_tick = [this] { clock.advance(std::chrono::minutes(5)); };  // it is put off for a while
  lease = std::chrono::hours(10);
  run(one_day, 9);
  for (int rounds = 0; rounds < 20; ++rounds) settle();
  REQUIRE(regression().culprit);
  CHECK(regression().culprit->commits == std::vector{commits[9]});
  CHECK(untestable().empty());
}

TEST_CASE_METHOD(BuilderDay, "a build that fails again and again ends as a range, and goes on") {
  add_builder();
  bool sick = true;
  answers = [&](int at) {
    return sick && at >= 7 && at <= 9 ? SourceOutcome::infrastructure : SourceOutcome::built;
  };
  config.queue.runner_silent = std::chrono::hours(2);
  before_tick = [&] {  // the builder is asked again after a while
    if (!asked.empty()) clock.advance(std::chrono::minutes(5));
  };
  lease = std::chrono::hours(10);
  run(one_day, 9);
  for (int rounds = 0; rounds < 20 && search().state == BisectionState::open; ++rounds) settle();
  REQUIRE(search().state == BisectionState::range);
  const auto missing = untestable();
  REQUIRE_FALSE(missing.empty());
  for (const Untestable& one : missing) {
    CHECK(one.cause == UntestableCause::no_build_here);
    CHECK_THAT(one.reason, Contains("builders failed 3 times to build it: because of"));
  }
  sick = false;  // the builds are queued still
  for (int rounds = 0; rounds < 20; ++rounds) settle();
  REQUIRE(regression().culprit);
  CHECK(regression().culprit->commits == std::vector{commits[9]});
}

TEST_CASE_METHOD(BuilderDay, "a builder that comes later narrows the range") {
  run(one_day, 9);
  REQUIRE(search().state == BisectionState::range);
  CHECK_THAT(untestable().at(0).reason, Contains("no builder is here"));
  add_builder();
  settle();
  CHECK(search().state == BisectionState::culprit);
  REQUIRE(regression().culprit);
  CHECK(regression().culprit->commits == std::vector{commits[9]});
  CHECK(regression().state == RegressionState::reported);
}

TEST_CASE_METHOD(BuilderDay,
                 "a daemon that is killed while a builder works asks for nothing twice") {
  add_builder();
  int before = 0;
  on_claim = [&](const Job& job) {
    if (job.spec.kind == JobKind::build && before++ == 0) restart();
    return true;
  };
  run(one_day, 9);
  CHECK(before > 0);
  CHECK(std::set<int>(asked.begin(), asked.end()).size() == asked.size());
  REQUIRE(regression().culprit);
  CHECK(regression().culprit->commits == std::vector{commits[9]});
}

TEST_CASE_METHOD(BuilderDay, "a wheel of a builder that is lost is built again when it is needed") {
  add_builder();
  int removed = 0;
  after_tick = [&] {
    if (removed > 0 || asked.empty()) return;
    const auto made = storage::find_source_build(
        db,
        storage::find_commit_state(db, commits[static_cast<std::size_t>(asked[0])], path_rules({}))
            ->native,
        "cpu", *config.project.recipe_sha256, commits[static_cast<std::size_t>(asked[0])]);
    if (!made || !made->build) return;
    const auto wheel = storage::find_build(db, *made->build);
    removed += std::filesystem::remove(*artifacts.path(*wheel->sha256));
  };
  run(one_day, 9);
  REQUIRE(removed == 1);
  REQUIRE(regression().culprit);
  CHECK(regression().culprit->commits == std::vector{commits[9]});
}

TEST_CASE_METHOD(BuilderDay, "a range waits for CI's answers, but not for ever") {
  config.project = {};
  config.source.ci.environments = {"*"};
  const auto look_up = [this](CiLookupState state) {
    for (std::size_t i = 6; i <= 10; ++i) {
      CiLookup lookup{.commit = commits[i], .variant = "cpu"};
      lookup.state = state;
      lookup.wanted_at = clock.now();
      const auto stored = storage::want_ci_wheel(storage::Autocommit(db), lookup);
      lookup.id = stored.id;
      storage::note_ci_look(storage::Autocommit(db), lookup);
    }
  };
  run(one_day, 9);
  REQUIRE(search().state == BisectionState::open);
  look_up(CiLookupState::wanted);
  settle();
  CHECK(search().state == BisectionState::open);
  SECTION("no wheel") {
    look_up(CiLookupState::absent);
    settle();
    CHECK(search().state == BisectionState::range);
  }
  SECTION("a wheel") {
    ci_wheel(8);
    ci_wheel(9);
    settle();
    CHECK(regression().culprit->commits == std::vector{commits[9]});
  }
  SECTION("no answer") {
    clock.advance(std::chrono::hours(1));
    settle();
    CHECK(search().state == BisectionState::range);
  }
}

TEST_CASE_METHOD(BuilderDay, "a range does not wait for CI's wheels of another variant") {
  config.project = {};
  Config::Source other = config.source;
  other.variant = "cu130";
  other.ci.environments = {"*"};
  config.more_sources = {other};
  run(one_day, 9);
  CHECK(search().state == BisectionState::range);
}

TEST_CASE_METHOD(BuilderDay, "a wheel that the machine class cannot run is not offered to it") {
  config.project = {};
  run(one_day, 9);
  REQUIRE(search().state == BisectionState::range);
  storage::Statement(storage::Autocommit(db),
                     "UPDATE machine SET facts = json_object('libc', 'glibc 2.28')")
      .run();
  for (const int position : {8, 9}) {
    Build wheel = ci_wheel(position);
    wheel.needs.glibc = "2.39";
    storage::update_build(storage::Autocommit(db), wheel);
  }
  settle();
  CHECK(search().state == BisectionState::range);  // nothing that helps
  const auto state = find_commit_build(context(), search(), 8);
  REQUIRE(std::holds_alternative<NoBuild>(state));
  CHECK_THAT(std::get<NoBuild>(state).reason,
             Contains("cannot run on this machine class: it needs glibc 2.39"));
}
