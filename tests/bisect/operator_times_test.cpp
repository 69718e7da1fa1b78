#include "bisect/operator_times.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

using Lists = std::vector<std::vector<double>>;

// Two runs of two iterations; `gpu`: the seconds that the device was busy in each iteration.
Profile two_runs(const std::vector<double>& gpu = {}) {
  Profile profile;
  for (int run = 0; run < 2; ++run)
    profile.runs.push_back({.01, {.01, .01}, {.002, .002}, {1, 1}, gpu, gpu, gpu});
  profile.operators.resize(2);
  profile.operators[0] = {"aten::add", Lists(2, {.001, .001}), Lists(2, {0, 0}), 1, 10, 100, 0,
                          "fp32"};
  profile.operators[1] = {"aten::mm", Lists(2, {.004, .004}), Lists(2, {0, 0}), 1, 4000, 100, 0,
                          "fp32"};
  profile.ceilings = Ceilings{"cpu", 1, {{"fp32", 1e6}}, 1e5};
  return profile;
}

}  // namespace

TEST_CASE("operators are sorted by the longer of their times, and each has its limiter") {
  const Profile profile = two_runs();
  const auto all = longest_first(profile);
  REQUIRE(all.size() == 2);
  CHECK(all[0].one->name == "aten::mm");
  CHECK(all[0].seconds() == Approx(.004));
  CHECK(limiter_of(profile, all[0]) == Limiter::math);    // 4,000 FLOP at 1 MFLOP/s take 4 ms
  CHECK(limiter_of(profile, all[1]) == Limiter::memory);  // 100 bytes at 100 kB/s take 1 ms
}

TEST_CASE("a host that was never quiet hides no time of its GPU") {
  Profile profile = two_runs({.005, .005});
  profile.operators[1].device_seconds = {{.004, .005, .009}, {.006, .007, .006}};
  for (ProfileRun& run : profile.runs) run.slowdown = {3, 3};
  CHECK_FALSE(has_times(profile));
  const auto first = longest_first(profile)[0];
  CHECK(first.one->name == "aten::mm");
  CHECK(first.self == 0);
  CHECK(first.device == Approx(.0055));  // of two runs' medians
  CHECK(limiter_of(profile, first) == Limiter::math);
}

TEST_CASE("classes of operators have their shares of time and of operations") {
  Profile profile = two_runs();
  profile.operators[0].kind = "elementwise";
  profile.operators[1].kind = "contraction";
  OperatorProfile wrapper = profile.operators[0];
  wrapper.name = "aten::linear";
  wrapper.kind.clear();
  wrapper.flops = 0;
  profile.operators.push_back(wrapper);
  const auto classes = classes_of(profile);
  REQUIRE(classes.size() == 3);
  CHECK((classes[0].name == "contraction" && classes[1].name == "elementwise"));
  CHECK(classes[2].name == "other");
  CHECK(classes[0].flops == 4000);
  double time = 0, operations = 0;
  for (const OperatorClass& one : classes) {
    time += one.seconds_share;
    operations += one.flops_share;
  }
  CHECK((time == Approx(1) && operations == Approx(1)));
  CHECK(classes[0].seconds == Approx(.004));
  CHECK(classes[0].seconds_share == Approx(.004 / (.004 + 2 * classes[1].seconds)));
  CHECK(classes[2].flops_share == 0);
}

TEST_CASE("without ceilings, undisturbed times or kernels nothing is said of limiters") {
  Profile profile = two_runs({.005, .005});
  CHECK_FALSE(limiter_of(profile, longest_first(profile)[0]));  // no kernel ran
  profile = two_runs();
  for (ProfileRun& run : profile.runs) run.slowdown = {3, 3};
  CHECK_FALSE(has_times(profile));
  CHECK_FALSE(limiter_of(profile, longest_first(profile)[0]));
  profile = two_runs();
  profile.ceilings.reset();
  CHECK_FALSE(limiter_of(profile, longest_first(profile)[0]));
}
