#include "storage/model/run_value.hpp"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace nightjar;

namespace {
RunResult run_of(std::vector<double> latency, std::vector<double> waits) {
  RunResult run;
  run.samples["latency"] = std::move(latency);
  run.wait_seconds = std::move(waits);
  return run;
}
std::vector<double> latencies(const RunResult& run) {
  return undisturbed(run.samples.at("latency"), run.wait_seconds, run.slowdown);
}
}  // namespace

TEST_CASE("a run's latency is the first decile of its iterations") {
  CHECK(value_of(run_of({3, 1, 2}, {}), "latency") == Approx(1.2));
  CHECK(value_of(run_of({11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {}), "latency") == Approx(2));
  CHECK(value_of(run_of({7}, {}), "latency") == 7);
}

TEST_CASE("an iteration that waited for a CPU over 1 % of its time does not count") {
  CHECK(latencies(run_of({1, 9, 1.5, 2}, {0, 0.5, 0.015, 0.01})) == std::vector<double>{1, 1.5, 2});
}

TEST_CASE("an iteration beside which fixed work was slow does not count") {
  RunResult run = run_of({1, 9, 1.5, 2}, {0, 0, 0, 0});
  run.slowdown = {1, 1.6, 1.05, 1.25};
  CHECK(latencies(run) == std::vector<double>{1, 1.5, 2});
  run.slowdown = {1, 1.6, 1.05};  // does not go with the iterations
  CHECK(latencies(run).size() == 4);
}

TEST_CASE("a run that never saw the machine undisturbed has no latency, but its memory") {
  RunResult run = run_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, std::vector<double>(10, 0));
  run.samples["peak_cpu_memory"] = {5e8};
  run.slowdown = {1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
  CHECK(value_of(run, "latency") == Approx(1.4));
  run.slowdown = {1, 1, 1, 1, 2, 2, 2, 2, 2, 2};
  CHECK_FALSE(value_of(run, "latency"));
  CHECK(value_of(run, "peak_cpu_memory") == 5e8);
}

TEST_CASE("a profile's runs have the same value, those that were disturbed throughout none") {
  Profile profile;
  profile.runs.resize(2);
  profile.runs[0].slowdown = {1, 1.3, 1, 1, 1, 1.25};
  profile.runs[1].slowdown = {2, 2, 2, 1, 1, 2};
  CHECK(values_of(profile, {{1, 9, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6}}) == std::vector<double>{1.4});
}

TEST_CASE("where nothing was probed and most iterations waited, all count") {
  CHECK(latencies(run_of({1, 2, 3, 4}, {0, 0, 1, 1})).size() == 2);
  CHECK(latencies(run_of({1, 2, 3, 4}, {0, 1, 1, 1})).size() == 4);
}

TEST_CASE("waiting times that do not go with the iterations are left alone") {
  CHECK(latencies(run_of({1, 2, 3}, {1, 0})).size() == 3);
  CHECK(wait_share_of(run_of({1, 2, 3}, {1, 0})) == 0);
}

TEST_CASE("other metrics take all their samples") {
  RunResult run = run_of({1, 1, 1}, {1, 1, 0});
  run.samples["leaked_memory"] = {5, 0, 7};
  CHECK(value_of(run, "leaked_memory") == 5);
  CHECK_FALSE(value_of(run, "peak_gpu_memory"));
}

TEST_CASE("what is not a number is no sample") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(value_of(run_of({nan, 2, infinity}, {}), "latency") == 2);
  CHECK_FALSE(value_of(run_of({nan}, {}), "latency"));
  CHECK_FALSE(value_of(run_of({}, {}), "latency"));
  CHECK(wait_share_of(run_of({nan}, {0})) == 0);
}

TEST_CASE("a run's wait share is waiting over measured time") {
  CHECK(wait_share_of(run_of({1, 3}, {0.5, 0.5})) == 0.25);
  CHECK(wait_share_of(run_of({0}, {0})) == 0);
  CHECK(wait_share_of(RunResult{}) == 0);
}
