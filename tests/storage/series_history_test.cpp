#include "storage/series_history.hpp"

#include <catch2/catch.hpp>

#include "storage/connection.hpp"
#include "storage/filtered.hpp"
#include "storage/imports.hpp"
#include "storage/marks.hpp"
#include "storage/session_counts.hpp"
#include "tests/storage/story.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("a history has a point a nightly, with where it was measured and what was accepted") {
  Story story;
  const Job job = story.measure("a", JobKind::screen, 1.0, 1.25);
  story.measure("b", JobKind::confirm, 9, 9);  // its runs are no points
  const Series series = story.latency();
  auto history = history_of_series(story.db, series);
  REQUIRE(history.points.size() == 1);  // the other build of the session is no point
  CHECK_FALSE(history.points[0].level);
  set_level(Autocommit(story.db), {series.id, story.good.id, story.night.id, 1.2, 2});
  history = history_of_series(story.db, series);
  const HistoryPoint& point = history.points[0];
  CHECK(point.build == story.good.id);
  CHECK(point.version == story.good.version);
  CHECK(point.date == "2026-08-19");
  CHECK(point.values == std::vector{1.0, 1.0});
  CHECK(point.job == job.id);
  CHECK(point.runner == story.runner.id);
  CHECK(point.lock.empty());
  CHECK(point.level == 1.2);
  CHECK(point.level_night == story.night.id);
  CHECK(history.without.empty());
}

TEST_CASE("points of one day are ordered by version, and those between two builds are found") {
  Story story;
  const Build older = add_build(Autocommit(story.db), nightly("2026-08-20", "2.9.0"));
  const Build newer = add_build(Autocommit(story.db), nightly("2026-08-20", "2.10.0"));
  for (const Build& build : {newer, older}) {
    story.good = build;
    story.night = story.start_night(build.id);
    story.measure("of " + build.version);
  }
  const SeriesId series = story.latency().id;
  const auto history = history_of_series(story.db, story.latency());
  REQUIRE(history.points.size() == 2);
  CHECK(history.points[0].build == older.id);
  CHECK(history.points[1].build == newer.id);
  CHECK(points_between(story.db, series, older.id, newer.id, 9).size() == 2);
  const auto part = points_between(story.db, series, newer.id, newer.id, 9);
  REQUIRE(part.size() == 1);
  CHECK(part[0].build == newer.id);
  CHECK(part[0].values.size() == 2);
}

TEST_CASE("a night without a value of the series is told with its reason") {
  Story story;
  story.measure("a");
  const auto judged = [&](const std::string& date) {
    const Build build = add_build(Autocommit(story.db), nightly(date));
    Night night = story.start_night(build.id);
    night.state = NightState::done;
    update_night(Autocommit(story.db), night);
    return night;
  };
  judged("2026-08-18");  // before the first point
  const Night idle = judged("2026-08-21"), failed = judged("2026-08-22");
  Night empty;
  empty.state = NightState::done;
  empty.reason = "no new build appeared";
  empty.started_at = *parse_rfc3339("2026-08-23T20:00:00Z");
  empty = add_night(Autocommit(story.db), empty);
  const Series series = story.latency();
  story.night = failed;
  const Job job = story.queue("b");
  const auto claimed = story.claim();
  REQUIRE(claimed);
  REQUIRE(fail_job(Autocommit(story.db), job.id, claimed->attempt, "the runner went away"));
  const auto without = history_of_series(story.db, series).without;
  REQUIRE(without.size() == 3);
  CHECK(without[0].night == idle.id);
  CHECK(without[0].date == "2026-08-21");
  CHECK(without[0].reason == "it was not measured on this machine class");
  CHECK(without[1].night == failed.id);
  CHECK(without[1].reason == "the job is failed: the runner went away");
  CHECK(without[2].night == empty.id);
  CHECK_FALSE(without[2].build);
  CHECK(without[2].date == "2026-08-23");
  CHECK(without[2].reason == "no new build appeared");
}

TEST_CASE("an imported night of another machine class is no gap of an imported series") {
  Database db = Database::open_writer(":memory:");
  const auto store = [&](const char* machine, int day, const char* workload) {
    Transaction transaction(db);
    const MachineId id =
        intern_machine(transaction, {{}, sha256(machine[0]), {{"imported", machine}}}).id;
    KnownSeries known;
    const HistoryNight night{
        at(day * 86400), "", std::nullopt, "x", {{*WorkloadName::parse(workload), "latency", {1}}}};
    store_history(transaction, id, night, at(0), known);
    transaction.commit();
    return id;
  };
  const char *model = "s/m/eval/cpu/fp32/b1/eager", *other = "s/n/eval/cpu/fp32/b1/eager";
  const MachineId machine = store("1", 1, model);
  store("2", 2, model);
  store("1", 3, other);
  const Workload workload = intern_workload(Autocommit(db), *WorkloadName::parse(model), 1);
  const auto series = find_series(db, workload.id, "latency", machine, imported_variant);
  const auto without = history_of_series(db, series.value()).without;
  REQUIRE(without.size() == 1);
  CHECK(without[0].date == to_date(at(3 * 86400)));
}

TEST_CASE("lists are filtered by state, day and time") {
  Story story;
  BuildFilter builds;
  builds.date = "2026-08-20";
  const auto of_day = list_builds(story.db, builds, {}).items;
  REQUIRE(of_day.size() == 1);
  CHECK(of_day[0].id == story.bad.id);
  builds.state = BuildState::unusable;
  CHECK(list_builds(story.db, builds, {}).items.empty());
  CHECK(list_builds(story.db, {BuildKind::nightly, {}, {}, {}}, {}).items.size() == 2);
  CHECK(list_builds(story.db, {BuildKind::ci, {}, {}, {}}, {}).items.empty());
  Build proved = nightly("2026-08-21");
  proved.commit = commit('c');
  add_build(Autocommit(story.db), proved);
  CHECK(list_builds(story.db, {{}, {}, {}, "cccc"}, {}).items.size() == 1);
  CHECK(list_builds(story.db, {{}, {}, {}, commit('c').str()}, {}).items.size() == 1);
  CHECK(list_builds(story.db, {{}, {}, {}, "c0c0"}, {}).items.empty());
  NightFilter nights;
  nights.state = NightState::measuring;
  CHECK(list_nights(story.db, nights, {}).items.size() == 1);
  nights.since = at(1);
  CHECK(list_nights(story.db, nights, {}).items.empty());
  CHECK(list_nights(story.db, {{}, story.good.id, {}}, {}).items.empty());
  story.measure("a");
  const SeriesId series = story.latency().id;
  add_improvement(Autocommit(story.db), {0, story.night.id, series, story.bad.id, 2, 1, at(30)});
  const auto improved = [&](const ImprovementFilter& filter) {
    return list_improvements(story.db, filter, {}).items.size();
  };
  CHECK(improved({at(30), "latency", {"python/**"}, story.machine.id, {}}) == 1);
  CHECK(improved({at(31), {}, {}, {}, {}}) == 0);
  CHECK(improved({{}, "compile_time", {}, {}, {}}) == 0);
  CHECK(improved({{}, {}, {"native/**"}, {}, {}}) == 0);
  CHECK(improved({{}, {}, {}, MachineId{9}, {}}) == 0);
  // No search named a commit.
  CHECK(improved({{}, {}, {}, {}, CommitSha::parse(std::string(40, 'a'))}) == 0);
}

TEST_CASE("sessions of a night are counted, and those that were void") {
  Story story;
  const Job good = story.measure("a"), bad = story.measure("b");
  CHECK(count_sessions(story.db, story.night.id).all == 0);
  add_check(Autocommit(story.db), good, {true, "", .1});
  add_check(Autocommit(story.db), bad, {false, "it was hot", .1});
  const auto counted = count_sessions(story.db, story.night.id);
  CHECK(counted.all == 2);
  CHECK(counted.not_usable == 1);
}

TEST_CASE(
    "a session takes from its first run to the end of its last, on machines with a GPU apart") {
  Story story;
  CHECK(session_time(story.db, story.night.id).without == 0);
  story.measure("a"), story.measure("b");
  story.db.impl().execute("UPDATE run SET started_at_us = 5000000, seconds = 10");
  story.db.impl().execute(
      "UPDATE run SET started_at_us = 85000000, seconds = 11 "
      "WHERE position = (SELECT max(position) FROM run AS other WHERE other.job = run.job)");
  const SessionTime time = session_time(story.db, story.night.id);
  CHECK(time.without == Approx(2 * 91));
  CHECK(time.with_gpu == 0);
  story.db.impl().execute("UPDATE machine SET facts = '{\"gpu\": \"NVIDIA H100\"}'");
  CHECK(session_time(story.db, story.night.id).with_gpu == Approx(2 * 91));
}
