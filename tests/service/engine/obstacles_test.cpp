// Every kind of obstacle is listed, and none is listed where nothing stops nights.
#include "service/engine/obstacles.hpp"

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

namespace {

// Nothing is wrong; each test spoils one thing.
struct Calm {
  Surroundings around{.surveyed = true,
                      .database = {},
                      .disk = {},
                      .failing = {},
                      .source = {},
                      .repository = {},
                      .history = {}};
  NightFacts facts{.sources = {SourceFacts{}},
                   .now = Time{} + std::chrono::hours(1000),
                   .runners = 2,
                   .live = 1,
                   .able = 1};
  Config config;
  SourceFacts& source = facts.sources.front();

  Calm() {
    source.has_proved = true;
    source.newest = Build{};
    source.newest->version = "2.14.0.dev20260820+cpu";
    source.newest->state = BuildState::proved;
    source.last_found = facts.now;
  }
  std::vector<Obstacle> found() const { return find_obstacles(around, facts, config); }
};

}  // namespace

TEST_CASE("where nothing is wrong, nothing stops nights") {
  CHECK(Calm().found().empty());
}

TEST_CASE("each thing that stops nights is told once, with its reason") {
  struct Row {
    ObstacleKind kind;
    const char* reason;
    void (*spoil)(Calm&);
  };
  const auto row = GENERATE(values<Row>({
      {ObstacleKind::database, "is damaged", [](Calm& c) { c.around.database = "it is damaged"; }},
      {ObstacleKind::disk, "MiB left", [](Calm& c) { c.around.disk = "3 MiB left"; }},
      {ObstacleKind::engine, "the step 'nights' fails: no such row",
       [](Calm& c) { c.around.failing["nights"] = "no such row"; }},
      {ObstacleKind::source, "answered 404", [](Calm& c) { c.around.source = "it answered 404"; }},
      {ObstacleKind::repository, "cannot fetch",
       [](Calm& c) { c.around.repository = "cannot fetch https://example.org"; }},
      {ObstacleKind::build, "no build of variant cpu", [](Calm& c) { c.source.newest.reset(); }},
      {ObstacleKind::build, "dev20260820+cpu is not proved: its METADATA",
       [](Calm& c) {
         c.source.has_proved = false;
         c.source.newest->state = BuildState::unproved;
         c.source.newest->reason = "its METADATA says 2.13";
       }},
      {ObstacleKind::build,
       "the newest wheel, 2.14.0.dev20260820+cpu, is unusable: it has no RECORD. No commit",
       [](Calm& c) {
         c.source.newest->state = BuildState::unusable;
         c.source.newest->reason = "it has no RECORD";
       }},
      {ObstacleKind::build, "is not proved: timed out",
       [](Calm& c) {
         c.source.newest->state = BuildState::found;
         c.source.newest->reason = "timed out";
       }},
      {ObstacleKind::source, "no new build of variant cpu for cp311 has been listed for 4 days",
       [](Calm& c) { c.facts.now += std::chrono::hours(4 * 24); }},
      {ObstacleKind::build, "could not be imported in any run of the last night: no libcudart",
       [](Calm& c) {
         c.source.measured = "2.14.0.dev20260820+cpu";
         c.source.import_error = "no libcudart";
       }},
      {ObstacleKind::runner, "so nothing is known of 2.14.0.dev20260820+cpu: no CUDA device. Run",
       [](Calm& c) {
         c.source.measured = "2.14.0.dev20260820+cpu";
         c.source.unavailable = "no CUDA device";
       }},
      {ObstacleKind::runner, "no runner has registered",
       [](Calm& c) { c.facts.runners = c.facts.live = 0; }},
      {ObstacleKind::runner, "no runner was seen for 300 s", [](Calm& c) { c.facts.live = 0; }},
      {ObstacleKind::runner, "(python/**, native/**)", [](Calm& c) { c.facts.able = 0; }},
      {ObstacleKind::schedule, "set [night] at",
       [](Calm& c) { c.config.night.on_new_build = false; }},
      {ObstacleKind::report,
       "refused report 7 (+25 % since 1a2b3c4): issues are disabled; and 1 more of the last two "
       "weeks. Mend the cause, then POST /api/v1/reports/7/retry",
       [](Calm& c) {
         c.facts.refused.resize(2);
         c.facts.refused[0].id = OutboxId{7};
         c.facts.refused[0].title = "+25 % since 1a2b3c4";
         c.facts.refused[0].error = "issues are disabled";
       }},
  }));
  Calm calm;
  row.spoil(calm);
  const auto found = calm.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == row.kind);
  CHECK_THAT(found[0].reason, Contains(row.reason));
}

TEST_CASE("what follows from something else is not told beside it") {
  Calm calm;
  SECTION("no build while the repository cannot be fetched") {
    calm.source.newest.reset();
    calm.around.repository = "cannot fetch";
    CHECK(calm.found().size() == 1);
  }
  SECTION("no build before the source was read") {
    calm.source.newest.reset();
    calm.around.surveyed = false;
    CHECK(calm.found().empty());
  }
  SECTION("failing steps while the database is damaged") {
    calm.around.database = "damaged";
    calm.around.failing = {{"nights", "damaged"}, {"report", "damaged"}};
    CHECK(find_obstacles(calm.around, std::nullopt, calm.config).size() == 1);
  }
}

TEST_CASE("a quiet week of the source is no trouble where nobody wants to hear of it") {
  Calm calm;
  calm.config.source.stale_days = 0;
  calm.facts.now += std::chrono::hours(400 * 24);
  CHECK(calm.found().empty());
}

TEST_CASE("a source without a new build for long names the keys that decide what it lists") {
  Calm calm;
  calm.facts.now += std::chrono::hours(9 * 24);
  const auto reason = [&] {
    const auto found = calm.found();
    REQUIRE(found.size() == 1);
    return found.front().reason;
  };
  calm.config.source.directory = "/wheels";
  calm.config.source.index = {};
  CHECK_THAT(reason(), Catch::EndsWith("check [source] directory, variant and python_tag"));
  calm.config.project.package = "rivulet";
  CHECK_THAT(reason(), Catch::EndsWith("variant and python_tag, and [project] package"));
}

TEST_CASE("of several sources each is told of by its own variant") {
  Calm calm;
  calm.facts.sources.push_back(calm.facts.sources[0]);
  calm.config.more_sources.emplace_back().variant = "cu126";
  SourceFacts& second = calm.facts.sources[1];
  CHECK(calm.found().empty());
  std::string reason = "no build of variant cu126 is known yet";
  SECTION("no build") {
    second.newest.reset();
  }
  SECTION("no new one for days") {
    *second.last_found -= std::chrono::hours(5 * 24);
    reason = "no new build of variant cu126 for cp311 has been listed for 5 days";
  }
  SECTION("one that cannot be imported") {
    second.measured = "2.14.0.dev20260820+cu126";
    second.import_error = "no libcudart";
    reason = "2.14.0.dev20260820+cu126 could not be imported in any run";
  }
  REQUIRE(calm.found().size() == 1);
  CHECK_THAT(calm.found()[0].reason, Contains(reason));
}

TEST_CASE("a night of one variant does not hide that another's build cannot be imported") {
  nightjar::service::test::NightWorld world;
  world.imports = [](int) { return false; };
  world.nightly("2026-08-20");
  world.settle();
  world.config.more_sources.emplace_back().variant = "cu126";
  Night other = storage::list_nights(world.db, {1, {}}).items.front();
  Build build = *storage::find_build(world.db, *other.build);
  build.variant = "cu126";
  build.version = "2.14.0.dev20260820+cu126";
  build.url.clear();
  other.build = storage::add_build(storage::Autocommit(world.db), build).id;
  storage::add_night(storage::Autocommit(world.db), other);
  const NightFacts facts = night_facts(world.context());
  REQUIRE(facts.sources.size() == 2);
  CHECK(facts.sources[0].measured == "2.14.0.dev20260820+cpu");
  CHECK_FALSE(facts.sources[0].import_error.empty());
  CHECK(facts.sources[1].import_error.empty());
}

TEST_CASE(
    "a night whose runs are all unavailable stops the nights, and one that measured does not") {
  nightjar::service::test::NightWorld world;
  world.available = [](const std::string& workload) {
    return workload != nightjar::service::test::alpha_eval;
  };
  world.nightly("2026-08-20");
  world.settle();
  CHECK(night_facts(world.context()).sources.at(0).unavailable.empty());
  world.available = [](const std::string&) { return false; };
  world.nightly("2026-08-21");
  world.settle();
  const SourceFacts facts = night_facts(world.context()).sources.at(0);
  CHECK(facts.measured == "2.14.0.dev20260821+cpu");
  CHECK(facts.unavailable == "no CUDA device");
}

TEST_CASE("the rows say which builds and runners there are") {
  nightjar::service::test::NightWorld world;
  EngineContext context = world.context();
  CHECK_FALSE(night_facts(context).sources.at(0).newest);
  world.nightly("2026-08-20");
  const NightFacts facts = night_facts(context);
  CHECK(facts.sources.at(0).has_proved);
  REQUIRE(facts.sources.at(0).newest);
  CHECK(facts.sources.at(0).newest->date == "2026-08-20");
  CHECK(facts.runners == 1);
  CHECK(facts.live == 1);
  CHECK(facts.able == 1);
  world.config.night.workloads = {"native/**"};
  CHECK(night_facts(context).able == 0);
  world.clock.advance(std::chrono::hours(1));
  CHECK(night_facts(context).live == 0);
}

TEST_CASE("a step that fails is named until it works again") {
  nightjar::service::test::NightWorld world;
  EngineContext context = world.context();
  world.config.night.at = "08:00";
  int failures = 0;
  context.publish = [&](std::string_view, const std::string&) {
    if (failures++ == 0) throw std::runtime_error("nobody listens");
  };
  tick(context, true);
  CHECK(context.complaints.current() ==
        std::map<std::string, std::string>{{"schedule", "nobody listens"}});
  tick(context, true);
  CHECK(context.complaints.current().empty());
}
