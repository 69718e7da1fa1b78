// What nights add to the measured false alarm rate, in a world that plays them.
#include "service/engine/trust/counts.hpp"

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;

namespace {

Observation observation(SeriesId series, double noise, bool with_levels) {
  Observation one{{series, {}, *WorkloadName::parse(alpha_eval), 1, "latency", MachineId{1}, "cpu"},
                  {},
                  {},
                  {},
                  {},
                  {}};
  one.tonight.values = {1, 1, 1, 1, 1};
  if (with_levels) one.levels = {{series, BuildId{1}, NightId{1}, 1, 5}};
  if (noise > 0) one.noise = {bisect::NoiseClass::ordinary, noise};
  return one;
}

const Judged* find(const std::vector<Judged>& all, const std::string& metric) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Judged& one) { return one.metric == metric; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a series counts if it could have been suspected") {
  Observations observed;
  auto& group = observed[{MachineId{1}, "latency"}];
  group.push_back(observation(SeriesId{1}, .02, true));
  group.push_back(observation(SeriesId{2}, .04, true));
  group.push_back(observation(SeriesId{3}, 0, true));    // its noise is unknown
  group.push_back(observation(SeriesId{4}, .5, false));  // it has no level yet
  group.push_back(observation(SeriesId{5}, .5, true));
  group.back().suspicious = true;
  group.push_back(observation(SeriesId{6}, .5, true));
  group.back().same_build = true;
  group.push_back(observation(SeriesId{7}, .5, true));
  group.back().screen.verdict = bisect::ScreenVerdict::unclear;
  ScreeningVerdicts verdicts;
  verdicts.suspicions.resize(1);
  verdicts.suspicions[0].regression.series = {{SeriesId{2}, 1, 2, 2, 2, 2}};
  const auto all = count_judged(observed, verdicts, Time{});
  REQUIRE(all.size() == 1);
  CHECK(all[0].nights == 1);
  CHECK(all[0].series_nights == 3);
  CHECK(all[0].suspicions == 1);
  REQUIRE(all[0].smallest);
  CHECK(all[0].smallest->series == 2);
  CHECK(all[0].smallest->low < all[0].smallest->change);
  CHECK(all[0].smallest->change < all[0].smallest->high);
  CHECK(all[0].smallest->high < .25);
}

TEST_CASE("the smallest change of a series whose nights scatter is larger") {
  Observations observed;
  auto& group = observed[{MachineId{1}, "latency"}];
  group.push_back(observation(SeriesId{1}, .02, true));
  const double steady = count_judged(observed, {}, Time{}).at(0).smallest->change;
  group[0].level_values = {1, 1.06, .94, 1.05, .95};
  CHECK(count_judged(observed, {}, Time{}).at(0).smallest->change > 2 * steady);
}

TEST_CASE("nights are counted with their suspicions, and a finding when it is confirmed") {
  NightWorld world;
  world.config.calibration.share = 0;
  double slow = 1;
  int newest = 0;
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    return .010 * (workload == alpha_eval && position >= newest ? slow : 1);
  };
  const auto night = [&](const char* date) {
    world.clock.advance(std::chrono::hours(24));
    world.grow(4);
    newest = static_cast<int>(world.commits.size()) - 2;
    world.nightly(date);
    world.settle();
  };
  night("2026-08-19");
  const auto first = storage::judged_so_far(world.db);
  REQUIRE(find(first, "latency"));
  CHECK(find(first, "latency")->series_nights == 0);  // nothing to be held against
  night("2026-08-20");
  CHECK(find(storage::judged_so_far(world.db), "latency")->series_nights == 2);
  CHECK(find(storage::judged_so_far(world.db), "latency")->suspicions == 0);
  CHECK(storage::confirmed_findings(world.db).empty());
  slow = 1.3;
  night("2026-08-21");
  const auto all = storage::judged_so_far(world.db);
  CHECK(find(all, "latency")->nights == 3);
  CHECK(find(all, "latency")->series_nights == 4);
  CHECK(find(all, "latency")->suspicions == 1);
  CHECK(find(all, "latency")->dismissed == 0);
  const auto confirmed = storage::confirmed_findings(world.db);
  REQUIRE(confirmed.size() == 1);
  CHECK(confirmed[0].metric == "latency");
  CHECK(confirmed[0].confirmed == 1);
  CHECK(confirmed[0].not_reproduced + confirmed[0].no_regression == 0);
}
