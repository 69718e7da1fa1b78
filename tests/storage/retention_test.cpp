#include "storage/retention.hpp"

#include <catch2/catch.hpp>

#include "storage/jobs.hpp"
#include "storage/regressions.hpp"
#include "storage/runs.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/any_state.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

int with_samples(const Story& story, const Job& job) {
  int runs = 0;
  for (const StoredRun& run : list_runs(story.db, {job.id, {}, {}}, {}).items)
    runs += run.result.samples.empty() ? 0 : 1;
  return runs;
}

int dropped(Story& story, const Job& job) {
  return drop_samples(Autocommit(story.db), job.id, at(1000));
}

}  // namespace

TEST_CASE("old samples go once, and every value stays") {
  Story story;
  const Job job = story.measure("a");
  const int before = with_samples(story, job);
  REQUIRE(before > 0);
  const auto values = points_of_series(story.db, story.latency().id, 9);
  CHECK(sessions_with_old_samples(story.db, at(0), 9).empty());
  CHECK(sessions_with_old_samples(story.db, at(900), 9) == std::vector{job.id});
  CHECK(dropped(story, job) > 0);
  CHECK(with_samples(story, job) == 0);
  CHECK(sessions_with_old_samples(story.db, at(900), 9).empty());
  const auto after = points_of_series(story.db, story.latency().id, 9);
  REQUIRE(after.size() == values.size());
  for (std::size_t i = 0; i < after.size(); ++i) CHECK(after[i].values == values[i].values);
  const auto kept = values_of_run(story.db, list_runs(story.db, {job.id, {}, {}}, {}).items[1].id);
  CHECK(kept.contains("latency"));
}

TEST_CASE("samples that a verdict, a search or a level rests on stay") {
  Story story;
  SECTION("of a confirmation") {
    const Job job = story.measure("a", JobKind::confirm);
    const int before = with_samples(story, job);
    CHECK(dropped(story, job) == 0);
    CHECK(with_samples(story, job) == before);
  }
  SECTION("of the night in which a workload regressed, but for its controls") {
    const Job job = story.measure("a");
    const int before = with_samples(story, job);
    Regression regression;
    regression.night = story.night.id;
    regression.machine = story.machine.id;
    regression.good = story.good.id;
    regression.bad = story.bad.id;
    regression.series = {{story.latency().id, 1, 2, 2, 2, 2}};
    nightjar::test::add_in_any(Autocommit(story.db), regression,
                               {RegressionState::dismissed, at(1), "{}"});
    dropped(story, job);
    CHECK(with_samples(story, job) == before - 2);
  }
  SECTION("of the newest level, and of no older one") {
    const Job first = story.measure("a");
    set_level(Autocommit(story.db), {story.latency().id, story.good.id, story.night.id, 1, 2});
    const int before = with_samples(story, first);
    story.night = story.start_night(story.bad.id);
    SECTION("while it is the newest") {
      dropped(story, first);
      CHECK(with_samples(story, first) == before - 2);
    }
    SECTION("and a newer one is there") {
      set_level(Autocommit(story.db), {story.latency().id, story.bad.id, story.night.id, 1, 2});
      dropped(story, first);
      CHECK(with_samples(story, first) == 0);
    }
  }
}

TEST_CASE("a file gives the space of dropped samples back to the disk") {
  Folder folder;
  Story story(folder.path / "a.db");
  std::vector<Job> jobs;
  for (int i = 0; i < 40; ++i) {
    story.queue("s" + std::to_string(i));
    const Job job = *story.claim();
    SessionResult large = Story::result();
    for (RunResult& run : large.runs) run.samples["latency"].assign(5'000, 1.0);
    store_result(Autocommit(story.db), job.id, job.attempt, large, at(10));
    jobs.push_back(job);
  }
  const auto pages = story.db.impl().ask("PRAGMA page_count");
  for (const Job& job : jobs) dropped(story, job);
  give_back_pages(story.db, 100'000);
  CHECK(story.db.impl().ask("PRAGMA page_count") < pages / 4);
}
