#include "storage/pools.hpp"

#include <catch2/catch.hpp>

#include "storage/jobs.hpp"
#include "storage/runners.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("Who holds a job is told once for each job, and a night's classes once each") {
  Story story;
  CHECK(job_holders(story.db).empty());
  CHECK(planned_classes(story.db, story.night.id).empty());
  story.queue("a");
  story.queue("b");
  CHECK(planned_classes(story.db, story.night.id) == std::vector{story.runner.machine});
  CHECK(job_holders(story.db).empty());
  REQUIRE(story.claim(0));
  REQUIRE(story.claim(0));
  CHECK(job_holders(story.db) == std::vector{story.runner.id, story.runner.id});
  CHECK(due_builds(story.db, at(0)) == 0);
}

TEST_CASE("A runner that ends leaves its name and the jobs that waited for it to others") {
  Story story;
  Job job = story.queue("a");
  job.key = "its own";
  job.affinity = story.runner.id;
  add_job(Autocommit(story.db), job);
  dismiss_runner(Autocommit(story.db), story.runner.id);
  CHECK_FALSE(find_job(story.db, "its own")->affinity);
  CHECK(find_runner(story.db, story.runner.id)->instance.empty());
  CHECK(find_runner(story.db, story.runner.id)->has_left);
}

TEST_CASE("A runner that ends is nobody to leave a lost job to, and is back once it is heard of") {
  Story story;
  const Runner beta = story.enrol("beta");
  story.queue("a");
  REQUIRE(story.claim(0));
  expire_leases(Autocommit(story.db), at(100));
  touch_runner(Autocommit(story.db), beta.id, at(100));
  CHECK_FALSE(story.claim(101));  // it lost an attempt, and beta has not
  dismiss_runner(Autocommit(story.db), beta.id);
  CHECK(story.claim(102));
  touch_runner(Autocommit(story.db), beta.id, at(103));
  CHECK_FALSE(find_runner(story.db, beta.id)->has_left);
  dismiss_runner(Autocommit(story.db), beta.id);
  CHECK_FALSE(register_runner(Autocommit(story.db), beta).has_left);
}
