#include "service/engine/night/profile_turns.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::NightWorld;

namespace {

// In the order in which they were asked for.
std::vector<Job> asked_profiles(NightWorld& world) {
  std::vector<Job> jobs = storage::list_jobs(world.db, {}, {1000, {}}).items;
  std::erase_if(jobs, [](const Job& job) { return job.spec.kind != JobKind::profile; });
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.id < b.id; });
  return jobs;
}

std::vector<std::string> names_of(const std::vector<Job>& jobs) {
  std::vector<std::string> names;
  for (const Job& job : jobs) names.push_back(job.spec.workloads.front().name.str());
  return names;
}

}  // namespace

TEST_CASE("The workloads of a class take turns at a profile, whether or not it was made") {
  NightWorld world;
  world.config.night.profiles = 1;
  world.profiles = GENERATE(true, false);
  for (const char* date : {"2026-08-19", "2026-08-20", "2026-08-21", "2026-08-22"}) {
    world.grow(1);
    world.nightly(date);
    world.settle();
  }
  const auto jobs = asked_profiles(world);
  const auto names = names_of(jobs);
  REQUIRE(names.size() == 4);
  CHECK(std::set(names.begin(), names.end()) ==
        std::set<std::string>{service::test::alpha_eval, service::test::beta_train});
  CHECK(names[0] == names[2]);
  CHECK(names[1] == names[3]);
  for (const Job& job : jobs) {
    CHECK(job.state == JobState::done);
    CHECK(job.spec.environments.size() == 1);
    CHECK(storage::profiles_of_job(world.db, job.id).size() == (world.profiles ? 1 : 0));
  }
  CHECK(storage::list_regressions(world.db, {}, {100, {}}).items.empty());
}

TEST_CASE("A night asks for no more profiles than it has workloads, or for none") {
  NightWorld world;
  world.config.night.profiles = GENERATE(0, 9);
  world.nightly("2026-08-19");
  world.settle();
  CHECK(asked_profiles(world).size() == (world.config.night.profiles == 0 ? 0 : 2));
}
