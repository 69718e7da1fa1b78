// Raw samples go with time, and nothing that a verdict rests on goes with them.
#include "service/engine/trust/retention.hpp"

#include <catch2/catch.hpp>

#include "storage/runs.hpp"
#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::NightWorld;
using service::test::two_nights;

namespace {

struct Count {
  std::size_t runs = 0, with_samples = 0;
};

Count count(const NightWorld& world, JobKind kind) {
  Count all;
  storage::PageRequest page;
  page.limit = 500;
  for (const auto& run : storage::list_runs(world.db, {}, page).items) {
    if (storage::find_job(world.db, run.job)->spec.kind != kind) continue;
    ++all.runs;
    all.with_samples += !run.result.samples.empty();
  }
  return all;
}

}  // namespace

TEST_CASE("after samples_days only what verdicts and levels rest on has samples") {
  NightWorld world;
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    const bool slower = position >= 17 && workload == service::test::alpha_eval;
    return metric != "latency" ? 3e8 : slower ? .014 : .010;
  };
  two_nights(world);
  REQUIRE(storage::regressions_in_state(world.db, RegressionState::reported).size() == 1);
  const Count confirmed = count(world, JobKind::confirm), searched = count(world, JobKind::bisect);
  REQUIRE(confirmed.runs > 0);
  REQUIRE(searched.runs > 0);
  world.tick_once();
  const Count screened = count(world, JobKind::screen);
  CHECK(screened.with_samples == screened.runs);
  world.clock.advance(std::chrono::days(179));
  world.tick_once();
  CHECK(count(world, JobKind::screen).with_samples == screened.runs);
  world.clock.advance(std::chrono::days(2));
  EngineContext context = world.context();
  CHECK(load_old_samples(context).size() > 2);
  for (int tick = 0; tick < 5; ++tick) world.tick_once();
  CHECK(load_old_samples(context).empty());
  CHECK(count(world, JobKind::screen).with_samples < screened.runs);
  CHECK(count(world, JobKind::screen).with_samples > 0);
  CHECK(count(world, JobKind::confirm).with_samples == confirmed.with_samples);
  CHECK(count(world, JobKind::bisect).with_samples == searched.with_samples);
}

TEST_CASE("with samples_days = 0 everything is kept") {
  NightWorld world;
  world.config.service.samples_days = 0;
  two_nights(world);
  const Count before = count(world, JobKind::screen);
  world.clock.advance(std::chrono::days(10'000));
  for (int tick = 0; tick < 5; ++tick) world.tick_once();
  CHECK(count(world, JobKind::screen).with_samples == before.with_samples);
}
