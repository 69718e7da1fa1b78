#include "service/engine/outcome/follow_up.hpp"

#include <catch2/catch.hpp>

#include "service/engine/verdict/levels.hpp"
#include "service/report/outbox_sender.hpp"
#include "storage/statement.hpp"
#include "tests/service/engine/night_world.hpp"
#include "tests/service/report/scripted_tracker.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;
using service::test::two_nights;

namespace {

std::optional<NightChange> one(double told, double now) {
  const LaterEffect effect{told, now, .07};
  return news(std::span(&effect, 1));
}

// Alpha's latency over its level, by position of the commit.
void follow_levels(NightWorld& world, std::function<double(int)> factor) {
  world.noise = .004;
  world.level = [factor](int position, const std::string& workload, const std::string& metric) {
    const double plain = metric == "latency" ? .010 : 3e8;
    return workload == alpha_eval && metric == "latency" ? plain * factor(position) : plain;
  };
}

void next_night(NightWorld& world, int day) {
  world.grow(8);
  world.clock.advance(std::chrono::hours(24));
  world.nightly("2026-08-" + std::to_string(day));
  world.settle();
}

// Adds a night of the newest nightly in another variant, in which a runner measured `value`.
void measure_twin(NightWorld& world, SeriesId series, double value) {
  const Night first = storage::list_nights(world.db, {1, {}}).items.front();
  Build build = *storage::find_build(world.db, *first.build);
  build.variant = "cu126";
  build.version.replace(build.version.find("+cpu"), 4, "+cu126");
  build.url.clear();
  storage::Autocommit transaction(world.db);
  Night night = first;
  night.build = storage::add_build(transaction, build).id;
  night = storage::add_night(transaction, night);
  storage::set_level(transaction, {series, *night.build, night.id, value, 5});
}

std::vector<OutboxMessage> comments(NightWorld& world) {
  std::vector<OutboxMessage> all = storage::list_messages(world.db, {100, {}}).items;
  std::erase_if(all,
                [](const OutboxMessage& message) { return message.kind != OutboxKind::comment; });
  return all;
}

}  // namespace

TEST_CASE("a reported regression that stays as it was is no news") {
  CHECK_FALSE(one(1.3, 1.3));
  CHECK_FALSE(one(1.3, 1.36));
  CHECK_FALSE(one(1.3, 1.23));
}

TEST_CASE(
    "a move by the threshold since the last word is news, and so is the first night at the old "
    "level") {
  CHECK(one(1.3, 1.3 * 1.07) == NightChange::grew);
  CHECK(one(1.3, 1.3 / 1.07) == NightChange::shrank);
  CHECK(one(1.3, 1.03) == NightChange::back);
  CHECK(one(1.08, 1.03) == NightChange::back);
  CHECK_FALSE(one(1.03, .98));
  CHECK(one(1.03, 1.3) == NightChange::grew);
}

TEST_CASE("what is no more worse by the threshold, and not quite back, is told by a later night") {
  CHECK_FALSE(one(1.3, 1.05));
  CHECK(one(1.3, 1.08) == NightChange::shrank);
  const std::vector<LaterEffect> half{{1.3, 1.05, .07}, {1.3, 1.1, .07}};
  CHECK(news(half) == NightChange::shrank);
}

TEST_CASE("one cause is back when all of its series are") {
  const std::vector<LaterEffect> half{{1.3, 1.0, .07}, {1.2, 1.2, .07}};
  CHECK(news(half) == NightChange::shrank);
  const std::vector<LaterEffect> rest{{1.0, 1.0, .07}, {1.2, 1.01, .07}};
  CHECK(news(rest) == NightChange::back);
}

TEST_CASE(
    "an issue hears once of a partial recovery and of the first good night, and of nothing else") {
  NightWorld world;
  follow_levels(world, [](int position) {
    return position < 9 ? 1 : position < 36 ? 1.3 : position < 44 ? 1.15 : position < 52 ? 1.15 : 1;
  });
  two_nights(world);
  REQUIRE(storage::regressions_in_state(world.db, RegressionState::reported).size() == 1);
  next_night(world, 21);
  CHECK(comments(world).empty());
  next_night(world, 22);
  REQUIRE(comments(world).size() == 1);
  CHECK(comments(world)[0].body.find("**Partly recovered** with `2.14.0.dev20260822+cpu`") == 0);
  CHECK(comments(world)[0].body.find(alpha_eval) != std::string::npos);
  next_night(world, 23);
  CHECK(comments(world).size() == 1);
  next_night(world, 24);
  REQUIRE(comments(world).size() == 2);
  CHECK(comments(world)[0].body.find("**Back at its level, for the first night**") == 0);
  CHECK(comments(world)[0].body.find("after 3 such nights") != std::string::npos);
  next_night(world, 25);
  next_night(world, 26);
  CHECK(comments(world).size() == 2);
  CHECK(storage::regressions_in_state(world.db, RegressionState::recovered).size() == 1);
}

TEST_CASE(
    "an issue hears of the first good night of two variants, which have nights of their own") {
  NightWorld world;
  follow_levels(world, [](int position) { return position < 9 || position >= 36 ? 1 : 1.3; });
  two_nights(world);
  auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  const AffectedSeries lead = reported[0].series.front();
  storage::Statement(storage::Autocommit(world.db),
                     "INSERT INTO series (workload, metric, machine, variant) "
                     "SELECT workload, metric, machine, 'cu126' FROM series WHERE id = ?")
      .bind(lead.series)
      .run();
  const auto known = storage::find_series(world.db, lead.series);
  const SeriesId twin =
      storage::find_series(world.db, known->workload, known->metric, known->machine, "cu126")->id;
  reported[0].series.push_back({twin, .010, .013, 1.3, 1.3, 1.3});
  storage::update_regression(storage::Autocommit(world.db), reported[0]);
  next_night(world, 21);
  measure_twin(world, twin, .013);
  next_night(world, 22);
  CHECK(comments(world).empty());  // the other variant's night is not over yet
  measure_twin(world, twin, .010);
  world.settle();
  REQUIRE(comments(world).size() == 1);
  CHECK(comments(world)[0].body.find("**Back at its level, for the first night**") == 0);
}

TEST_CASE(
    "a later regression of the same series has an issue of its own, and the first hears nothing of "
    "it") {
  NightWorld world;
  follow_levels(world, [](int position) { return position < 9 ? 1 : position < 28 ? 1.3 : 1.7; });
  two_nights(world);
  next_night(world, 21);
  CHECK(storage::regressions_in_state(world.db, RegressionState::reported).size() == 2);
  CHECK(comments(world).empty());
}

TEST_CASE(
    "a metric of which more is better recovers when it is as high again, not while it is low") {
  const Series series{
      {}, {}, *WorkloadName::parse("python/a/eval/cpu/fp32/b1/inductor"), 1, "speedup", {}, ""};
  CHECK(worsening(series, 2.0, 1.5) == Approx(1.333).epsilon(.001));
  CHECK_FALSE(is_back(worsening(series, 2.0, 1.5), .07));
  CHECK(is_back(worsening(series, 2.0, 1.98), .07));
}

TEST_CASE(
    "the tracker gets the comment once, however often the engine ticks and the sender is cut off") {
  NightWorld world;
  follow_levels(world, [](int position) { return position < 9 ? 1 : position < 28 ? 1.3 : 1.15; });
  two_nights(world);
  next_night(world, 21);
  for (int tick = 0; tick < 3; ++tick) world.tick_once();
  auto all = storage::list_messages(world.db, {100, {}}).items;
  REQUIRE(all.size() == 2);
  std::reverse(all.begin(), all.end());

  ScriptedTracker tracker;
  OutboxSender sender(tracker, {}, world.clock);
  const Sent opened = sender.send(all[0], std::nullopt);
  REQUIRE(opened.issue);
  using Fault = ScriptedTracker::Fault;
  // Posted, but the answer was lost, and so was that to the look for it.
  tracker.faults = {Fault::none, Fault::cut_after, Fault::transient_before};
  CHECK(sender.send(all[1], opened.issue->number).state == OutboxState::pending);
  CHECK(sender.send(all[1], opened.issue->number).state == OutboxState::sent);
  REQUIRE(tracker.issues.size() == 1);
  REQUIRE(tracker.issues[0].comments.size() == 1);
  CHECK(tracker.issues[0].comments[0].find("Partly recovered") != std::string::npos);
}
