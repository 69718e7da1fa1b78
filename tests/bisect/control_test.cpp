#include "bisect/control.hpp"

#include <array>
#include <cmath>

#include <catch2/catch.hpp>

#include "bisect/detection.hpp"

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

std::vector<EarlierControl> nights(int count, Gauge gauge = Gauge::cpu) {
  std::vector<EarlierControl> before;
  for (int night = 1; night <= count; ++night)
    before.push_back({NightId{night}, gauge, .010, .004});
  return before;
}

Screen screened(double tonight, const ControlReading& control, const DetectionPolicy& policy = {}) {
  const std::array levels{1.00, 1.01, .99, 1.02, 1.00};
  const std::array runs{tonight, tonight * 1.01, tonight * .99};
  return screen(levels, runs, policy, std::array{control});
}

}  // namespace

TEST_CASE("A control is held against five nights of its own, by its location and its spread") {
  const std::array runs{.0102, .0106};
  const double within = std::log(.0106 / .0102) / std::sqrt(2);
  const auto known = read_control(Gauge::cpu, runs, nights(5)).value();
  CHECK(known.within == Approx(within));
  CHECK(known.moved.value() == Approx(std::log(1.04)));
  CHECK(known.unrest.value() == Approx(std::sqrt(within * within - .004 * .004)));
  CHECK(read_control(Gauge::cpu, std::array{.010, .01001}, nights(5))->unrest == 0.);

  const auto young = read_control(Gauge::cpu, runs, nights(4)).value();
  CHECK(young.within == Approx(within));
  CHECK_FALSE(young.moved);
  CHECK_FALSE(young.unrest);
  auto sessions = nights(4);  // more sessions are no more nights
  sessions.insert(sessions.end(), sessions.begin(), sessions.end());
  CHECK_FALSE(read_control(Gauge::cpu, runs, sessions)->moved);
  CHECK_FALSE(read_control(Gauge::cpu, runs, nights(9, Gauge::gpu_compute))->moved);
  CHECK_FALSE(read_control(Gauge::cpu, std::array{.010}, nights(9)));
}

TEST_CASE("A machine that stays where it moved to has moved no more in the third night") {
  auto before = nights(9);
  const auto moved = [&] {
    return read_control(Gauge::cpu, std::array{.011, .011}, before)->moved.value();
  };
  before.push_back({NightId{10}, Gauge::cpu, .0111, .004});
  CHECK(moved() == Approx(std::log(1.1)));
  before.push_back({NightId{11}, Gauge::cpu, .0109, .004});
  CHECK(moved() == Approx(0).margin(1e-9));
  before.back().location = .0104;  // half way back is no level
  CHECK(moved() == Approx(std::log(1.1)));
}

TEST_CASE("Unrest that stays is what is usual after three nights") {
  auto before = nights(14);
  const std::array runs{.010, .0102, .0104};
  const auto unrest = [&] { return read_control(Gauge::cpu, runs, before)->unrest.value(); };
  const double within = read_control(Gauge::cpu, runs, before)->within;
  for (int night = 15; night < 18; ++night) {
    CHECK(unrest() > .01);
    before.erase(before.begin());
    before.push_back({NightId{night}, Gauge::cpu, .010, within});
  }
  CHECK(unrest() < .001);
}

TEST_CASE("A metric is held to the controls that it moves with, on its workload's device") {
  const auto held_to = [](const char* metric, const char* device) {
    std::vector<Gauge> gauges;
    for (const Gauge gauge : all_of<Gauge>())
      if (moves_with(gauge, metric, device)) gauges.push_back(gauge);
    return gauges;
  };
  using enum Gauge;
  const std::vector all{cpu, gpu_compute, gpu_bandwidth}, host{cpu},
      device{gpu_compute, gpu_bandwidth};
  CHECK(held_to("latency", "cuda") == all);
  CHECK(held_to("cuda_latency", "cuda") == all);
  CHECK(held_to("latency", "cpu") == host);
  CHECK(held_to("kernel_time", "cuda") == device);
  CHECK(held_to("compile_time", "cuda") == host);
  CHECK(held_to("warm_compile_time", "cuda") == host);
  for (const char* metric : {"speedup", "peak_gpu_memory", "graph_breaks", "imported_cost", "x"})
    CHECK(held_to(metric, "cuda").empty());
}

TEST_CASE(
    "A change that the machine's own may explain is unclear, and a larger one is suspicious") {
  using enum ScreenVerdict;
  const double slower = std::log(1.05);
  CHECK(screened(1.06, {}).verdict == suspect_worse);
  CHECK(screened(1.06, {Gauge::cpu, 0, slower, 0}).verdict == unclear);
  CHECK(screened(1.12, {Gauge::cpu, 0, slower, 0}).verdict == suspect_worse);
  CHECK(screened(1.06, {Gauge::cpu, 0, 0, .05}).verdict == unclear);
  CHECK(screened(1.12, {Gauge::cpu, 0, 0, .05}).verdict == suspect_worse);
  CHECK(screened(.94, {Gauge::cpu, 0, -slower, 0}).verdict == unclear);
  CHECK(screened(.94, {Gauge::cpu, 0, slower, 0}).verdict == suspect_better);
  DetectionPolicy rate;
  rate.direction = Direction::higher_is_better;
  CHECK(screened(.94, {Gauge::cpu, 0, slower, 0}, rate).verdict == unclear);
  CHECK(screened(.94, {Gauge::cpu, 0, -slower, 0}, rate).verdict == suspect_worse);
}

TEST_CASE("A control makes nothing suspicious, and leaves what is measured as it is") {
  const ControlReading faster{Gauge::cpu, 0, std::log(.90), .01};
  const Screen out = screened(1.00, faster);
  CHECK(out.verdict == ScreenVerdict::same);
  CHECK(out.level == Approx(1));
  const Screen plain = screened(1.06, {}), moved = screened(1.06, {Gauge::cpu, 0, .05, .01});
  CHECK(plain.change == moved.change);
  CHECK(plain.z == moved.z);
}
