#include "service/engine/search/boundary_profiles.hpp"

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;
using service::test::two_nights;

namespace {

// Plants a step by `ratio`, +30 % by default, at commit 9 of 24.
void plant(NightWorld& world, const std::string& metric, double ratio = 1.3) {
  world.level = [=](int position, const std::string& workload, const std::string& asked) {
    const double value = asked == "latency" ? .010 : asked == "kernel_time" ? .002 : 3e8;
    return workload == alpha_eval && asked == metric && position >= 9 ? ratio * value : value;
  };
}

std::vector<Job> profile_jobs(NightWorld& world) {
  std::vector<Job> jobs = storage::list_jobs(world.db, {}, {1000, {}}).items;
  std::erase_if(jobs, [](const Job& job) { return job.spec.kind != JobKind::profile; });
  return jobs;
}

Job the_profile_job(NightWorld& world) {
  const auto jobs = profile_jobs(world);
  REQUIRE(jobs.size() == 1);
  return jobs[0];
}

std::string report(NightWorld& world) {
  const auto messages = storage::list_messages(world.db, {100, {}}).items;
  REQUIRE(messages.size() == 1);
  return messages[0].body;
}

}  // namespace

TEST_CASE(
    "a report shows the operator that got slower at the culprit, from one session of profiles") {
  NightWorld world;
  plant(world, "latency");
  two_nights(world);
  const Job job = the_profile_job(world);
  REQUIRE(job.spec.environments.size() == 2);
  for (const int side : {0, 1}) {
    const auto build =
        storage::find_build(world.db, job.spec.environments[static_cast<std::size_t>(side)].build);
    CHECK(*build->commit == world.commits[static_cast<std::size_t>(8 + side)]);
  }
  CHECK(job.spec.order.size() == 10);
  const std::string body = report(world);
  const auto section = body.find("## Where the time went");
  REQUIRE(section != std::string::npos);
  CHECK(body.find("aten::mul", section) != std::string::npos);
  CHECK(body.find("aten::linear", section) == std::string::npos);
  CHECK(body.find("100 %", section) != std::string::npos);
}

TEST_CASE("what a profiled run says enters no series") {
  NightWorld world;
  plant(world, "latency");
  two_nights(world);
  const Job job = the_profile_job(world);
  for (const Series& series : storage::list_series(world.db, {}, {100, {}}).items)
    CHECK(storage::runs_of_job(world.db, series.id, job.id).empty());
}

TEST_CASE("a report goes without profiles where there are none") {
  NightWorld world;
  plant(world, "latency");
  SECTION("the runner has no profiler") {
    world.profiles = false;
  }
  SECTION("the configuration wants none") {
    world.config.report.profile_runs = 0;
  }
  two_nights(world);
  CHECK(profile_jobs(world).size() == (world.profiles ? 0 : 1));
  CHECK(report(world).find("Where the time went") == std::string::npos);
}

TEST_CASE("a report of peak memory shows the part that grew, and no operators") {
  NightWorld world;
  plant(world, "peak_cpu_memory");
  two_nights(world);
  CHECK(profile_jobs(world).size() == 1);
  const std::string body = report(world);
  CHECK(body.find("## Where the time went") == std::string::npos);
  const auto section = body.find("## Where the memory went");
  REQUIRE(section != std::string::npos);
  CHECK(body.find("| activations | 190.7 MiB | 276.6 MiB | +85.8 MiB |", section) !=
        std::string::npos);
  CHECK(body.find("| parameters | 95.4 MiB | 95.4 MiB | +0.0 MiB |", section) != std::string::npos);
}

TEST_CASE("a report of kernels' time shows the operator whose kernels take 1 % longer") {
  NightWorld world;
  world.on_gpu = true;
  plant(world, "kernel_time", 1.01);
  two_nights(world);
  CHECK(profile_jobs(world).size() == 1);
  const std::string body = report(world);
  CHECK(body.find("## Where the memory went") == std::string::npos);
  const auto section = body.find("## Where the kernels' time went");
  REQUIRE(section != std::string::npos);
  CHECK(body.find("The GPU's time in an iteration under the profiler", section) !=
        std::string::npos);
  CHECK(body.find(" ms → 2.0", section) != std::string::npos);
  CHECK(body.find("aten::mul (GPU)", section) != std::string::npos);
  CHECK(body.find("aten::linear", section) == std::string::npos);
}

TEST_CASE("a report of a GPU's memory shows the part that grew") {
  NightWorld world;
  world.on_gpu = true;
  plant(world, "peak_gpu_memory");
  two_nights(world);
  CHECK(profile_jobs(world).size() == 1);
  const std::string body = report(world);
  const auto section = body.find("## Where the memory went");
  REQUIRE(section != std::string::npos);
  CHECK(body.find("| activations | 190.7 MiB | 276.6 MiB | +85.8 MiB |", section) !=
        std::string::npos);
}

TEST_CASE("a report does not wait for a runner that never makes the profiles") {
  NightWorld world;
  plant(world, "latency");
  world.on_claim = [](const Job& job) { return job.spec.kind != JobKind::profile; };
  two_nights(world);
  CHECK(storage::list_messages(world.db, {100, {}}).items.empty());
  world.clock.advance(std::chrono::minutes(31));
  world.settle();
  CHECK(report(world).find("Where the time went") == std::string::npos);
  CHECK(the_profile_job(world).state != JobState::queued);
}
