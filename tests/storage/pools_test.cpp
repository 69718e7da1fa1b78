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
}
