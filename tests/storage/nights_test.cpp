#include "storage/nights.hpp"

#include <catch2/catch.hpp>

#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("a night goes its way and stays found by its build") {
  Story story;
  Night waiting;
  waiting.trigger = NightTrigger::webhook;
  waiting.started_at = at(1);
  waiting = add_night(Autocommit(story.db), waiting);
  CHECK(open_nights(story.db).size() == 2);
  CHECK_FALSE(find_night(story.db, waiting.id)->build);

  Night done = story.night;
  done.state = NightState::done;
  done.reason = "all is well";
  done.finished_at = at(100);
  update_night(Autocommit(story.db), done);
  const auto open = open_nights(story.db);
  REQUIRE(open.size() == 1);
  CHECK(open[0].id == waiting.id);
  CHECK(open[0].trigger == NightTrigger::webhook);
  const auto stored = find_night_of_build(story.db, story.bad.id);
  REQUIRE(stored);
  CHECK(stored->id == story.night.id);
  CHECK(stored->state == NightState::done);
  CHECK(stored->reason == "all is well");
  CHECK(stored->finished_at == at(100));
  CHECK_FALSE(find_night_of_build(story.db, story.good.id));
  CHECK(list_nights(story.db, {1, std::nullopt}).items[0].id == waiting.id);
}

TEST_CASE("the last night on a machine class is one of the same variant") {
  Story story;
  const auto measured = [&](const std::string& date, const std::string& variant) {
    Night night =
        story.start_night(add_build(Autocommit(story.db), nightly(date, "2.15.0", variant)).id);
    Job job = story.queue("of " + variant + " " + date);
    Statement(Autocommit(story.db), "UPDATE job SET night = ?, state = 'done' WHERE id = ?")
        .bind(night.id, job.id)
        .run();
    night.state = NightState::done;
    update_night(Autocommit(story.db), night);
    return night.id;
  };
  const NightId first = measured("2026-08-21", "cpu"), cuda = measured("2026-08-21", "cu130"),
                second = measured("2026-08-22", "cpu"), last = measured("2026-08-22", "cu130");
  CHECK(last_night_on(story.db, story.machine.id, last)->id == cuda);
  CHECK(last_night_on(story.db, story.machine.id, second)->id == first);
  CHECK_FALSE(last_night_on(story.db, story.machine.id, cuda));
}

TEST_CASE("a webhook delivery is used once") {
  Folder folder;
  {
    Story story(folder.path / "a.db");
    CHECK(remember_delivery(Autocommit(story.db), "d-1", at(0)));
    CHECK_FALSE(remember_delivery(Autocommit(story.db), "d-1", at(1)));
    CHECK(remember_delivery(Autocommit(story.db), "d-2", at(1)));
  }
  Database again = Database::open_writer(folder.path / "a.db");
  CHECK_FALSE(remember_delivery(Autocommit(again), "d-1", at(2)));
}

TEST_CASE("who started what is on record, newest first") {
  Story story;
  add_audit(Autocommit(story.db), {0, at(1), "schedule", "start-night", "night/1"});
  add_audit(Autocommit(story.db), {0, at(2), "token:ann", "start-night", "night/2"});
  const auto page = list_audit(story.db, {1, std::nullopt});
  REQUIRE(page.items.size() == 1);
  CHECK(page.items[0].actor == "token:ann");
  CHECK(page.items[0].action == "start-night");
  CHECK(page.items[0].subject == "night/2");
  CHECK(page.items[0].at == at(2));
  REQUIRE(page.next);
  CHECK(list_audit(story.db, {1, page.next}).items[0].actor == "schedule");
}

TEST_CASE("a note is what was last set") {
  Story story;
  CHECK_FALSE(get_note(story.db, "last-scheduled-date"));
  set_note(Autocommit(story.db), "last-scheduled-date", "2026-08-19");
  set_note(Autocommit(story.db), "last-scheduled-date", "2026-08-20");
  CHECK(get_note(story.db, "last-scheduled-date") == "2026-08-20");
}

TEST_CASE("a night of which no job was claimed has not begun") {
  Story story;
  CHECK(unclaimed_night(story.db, story.bad.id)->id == story.night.id);
  CHECK(unclaimed_night(story.db, std::nullopt)->id == story.night.id);
  CHECK_FALSE(unclaimed_night(story.db, story.good.id));
  story.queue("a");
  CHECK(unclaimed_night(story.db, story.bad.id));
  const Job job = *story.claim();
  CHECK_FALSE(unclaimed_night(story.db, story.bad.id));
  release_job(Autocommit(story.db), job.id, 1);
  CHECK_FALSE(unclaimed_night(story.db, std::nullopt));

  CHECK_FALSE(waiting_night(story.db, NightTrigger::api));
  Night asked;
  asked.trigger = NightTrigger::api;
  asked = add_night(Autocommit(story.db), asked);
  CHECK(waiting_night(story.db, NightTrigger::api)->id == asked.id);
  CHECK_FALSE(waiting_night(story.db, NightTrigger::webhook));
}

TEST_CASE("what a cancelled night found normal does not count") {
  Story story;
  story.measure("a");
  const SeriesId series = story.latency().id;
  const Night later = story.start_night(story.good.id);
  set_level(Autocommit(story.db), {series, story.bad.id, story.night.id, 1.0, 5});
  set_level(Autocommit(story.db), {series, story.good.id, later.id, 2.0, 5});
  CHECK(levels_before(story.db, series, NightId{9}, 9).size() == 2);
  Night cancelled = later;
  cancelled.state = NightState::cancelled;
  cancelled.cancelled_by = "token:ann";
  update_night(Autocommit(story.db), cancelled);
  const auto levels = levels_before(story.db, series, NightId{9}, 9);
  REQUIRE(levels.size() == 1);
  CHECK(levels[0].night == story.night.id);
  CHECK(find_night(story.db, later.id)->cancelled_by == "token:ann");
  CHECK(open_nights(story.db).size() == 1);
}
