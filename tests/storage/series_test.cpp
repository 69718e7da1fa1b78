#include "storage/series.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "storage/many_series.hpp"
#include "storage/marks.hpp"
#include "storage/runs.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

std::vector<double> values_of(const std::vector<SeriesRun>& runs) {
  std::vector<double> values;
  for (const SeriesRun& run : runs) values.push_back(run.value);
  return values;
}

}  // namespace

TEST_CASE("a series' runs come in the order they were made") {
  Story story;
  const Job first = story.measure("a", JobKind::screen, 1.0, 1.5);
  const Job second = story.measure("b", JobKind::screen, 2.0, 2.5);
  story.measure("c", JobKind::confirm, 9, 9);
  const SeriesId series = story.latency().id;
  const auto runs = runs_of_series(story.db, series, story.night.id, JobKind::screen);
  REQUIRE(runs.size() == 8);
  CHECK(values_of(runs) == std::vector{1.0, 1.5, 1.0, 1.5, 2.0, 2.5, 2.0, 2.5});
  CHECK(runs[0].job == first.id);
  CHECK(runs[0].order == 1);
  CHECK(runs[0].build == story.good.id);
  CHECK(runs[0].night == story.night.id);
  CHECK(runs[1].build == story.bad.id);
  CHECK(runs[4].job == second.id);
  CHECK(runs[0].wait_share == Approx(0.25));
  CHECK(find_run(story.db, runs[0].run)->result.samples.at("latency") ==
        std::vector{2.0, 1.0, 1.0});
  CHECK(runs_of_series(story.db, series, NightId{9}, JobKind::screen).empty());
  const auto of_bad =
      runs_of_build(story.db, series, story.bad.id, story.night.id, JobKind::screen);
  CHECK(values_of(of_bad) == std::vector{1.5, 1.5, 2.5, 2.5});
  CHECK(of_bad.at(0).run == runs[1].run);
  CHECK(runs_of_build(story.db, series, story.bad.id, NightId{9}, JobKind::screen).empty());
  CHECK(runs_of_job(story.db, story.latency().id, second.id).size() == 4);
}

TEST_CASE("a night's series are those that its screen jobs measured") {
  Story story;
  story.measure("a", JobKind::confirm);
  CHECK(series_of_night(story.db, story.night.id).empty());
  story.measure("b");
  const auto series = series_of_night(story.db, story.night.id);
  REQUIRE(series.size() == 3);  // failures too
  CHECK(series[0].metric == "latency");
  CHECK(series[1].metric == "peak_cpu_memory");
  CHECK(series[0].workload_name == story.workload.name);
  CHECK(series[0].workload_version == 1);
  CHECK(series[0].machine == story.machine.id);
  CHECK(series[0].variant == "cpu");
  CHECK(series_of_night(story.db, story.start_night(story.good.id).id).empty());
}

TEST_CASE("what a night measured comes by series, of one metric or of all") {
  Story story;
  story.measure("a", JobKind::screen, 1.0, 1.5);
  const Job second = story.measure("b", JobKind::screen, 2.0, 2.5);
  story.measure("c", JobKind::confirm, 9, 9);
  const auto all = series_measured_in(story.db, story.night.id, JobKind::screen);
  const auto series = series_of_night(story.db, story.night.id);
  REQUIRE(all.size() == series.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].series.id == series[i].id);
    CHECK(all[i].series.metric == series[i].metric);
    CHECK(all[i].series.workload_name == story.workload.name);
    CHECK(all[i].runs.size() == 8);
  }
  const auto latency = series_measured_in(story.db, story.night.id, JobKind::screen, "latency");
  REQUIRE(latency.size() == 1);
  CHECK(latency[0].series.id == story.latency().id);
  CHECK(values_of(latency[0].runs) == std::vector{1.0, 1.5, 1.0, 1.5, 2.0, 2.5, 2.0, 2.5});
  CHECK(latency[0].runs[0].build == story.good.id);
  CHECK(latency[0].runs[1].build == story.bad.id);
  CHECK(latency[0].runs[4].job == second.id);
  CHECK(latency[0].runs[4].wait_share == Approx(0.25));
  const auto confirmed = series_measured_in(story.db, story.night.id, JobKind::confirm, "latency");
  REQUIRE(confirmed.size() == 1);
  CHECK(values_of(confirmed[0].runs) == std::vector{9.0, 9.0, 9.0, 9.0});
  CHECK(series_measured_in(story.db, NightId{9}, JobKind::screen).empty());
}

TEST_CASE("a new version of a workload is another series") {
  Story story;
  story.measure("a");
  story.workload = intern_workload(Autocommit(story.db), story.workload.name, 2);
  story.runner.workloads.add(story.workload.name.str() + "@2");
  story.measure("b");
  CHECK(list_series(story.db, {"latency", {}, {}}, {}).items.size() == 2);
}

TEST_CASE("series are listed by metric, glob and machine") {
  Story story;
  story.measure("a");
  CHECK(list_series(story.db, {}, {}).items.size() == 3);
  CHECK(list_series(story.db, {"latency", {}, {}}, {}).items.size() == 1);
  CHECK(list_series(story.db, {{}, {"python/*/eval/cpu/**"}, {}}, {}).items.size() == 3);
  CHECK(list_series(story.db, {{}, {"native/**"}, {}}, {}).items.empty());
  CHECK(list_series(story.db, {{}, {"python/*"}, {}}, {}).items.empty());
  CHECK(list_series(story.db, {{}, {}, story.machine.id}, {}).items.size() == 3);
  CHECK(list_series(story.db, {{}, {}, MachineId{9}}, {}).items.empty());
  CHECK(list_series(story.db, {"latency", {"**"}, story.machine.id}, {}).items.size() == 1);
  const auto found = [&](const WorkloadFilter& workloads, const std::string& variant) {
    return list_series(story.db, {{}, workloads, {}, variant}, {}).items.size();
  };
  CHECK(found({}, "cpu") == 3);
  CHECK(found({}, "cu126") == 0);
  CHECK(found({.domain = "recommendation", .suite = "python", .model = "dlrm"}, "cpu") == 3);
  CHECK(found({.domain = "vision"}, "cpu") == 0);
  const auto page = list_series(story.db, {}, {1, std::nullopt});
  REQUIRE(page.next);
  CHECK(list_series(story.db, {}, {2, page.next}).items.back().id == story.latency().id);
  CHECK(find_series(story.db, story.latency().id)->metric == "latency");
  CHECK_FALSE(find_series(story.db, SeriesId{99}));
}

TEST_CASE("a series' points are one a nightly, by date and version, of screen runs") {
  Story story;
  // The second build of a screening is measured again only to compare with: it gets no point.
  const auto screen = [&](const char* name, const Build& build, double seconds) {
    story.good = build;
    story.measure(name, JobKind::screen, seconds, 9.0);
  };
  const Build first = story.good, second = story.bad;
  story.bad = add_build(Autocommit(story.db), nightly("2026-08-22", "2.10.0"));
  screen("first", first, 1.0);
  screen("second", second, 1.25);
  story.measure("confirm", JobKind::confirm, 5.0, 5.0);  // no part of the points
  const Build newer = add_build(Autocommit(story.db), nightly("2026-08-21", "2.10.0"));
  screen("third", add_build(Autocommit(story.db), nightly("2026-08-21", "2.9.0")), 4.0);
  screen("fourth", newer, 3.0);
  screen("fifth", newer, 3.5);
  Build of_ci = first;
  of_ci.kind = BuildKind::ci;
  of_ci.date = "";
  screen("sixth", add_build(Autocommit(story.db), of_ci), 9.0);
  const auto points = points_of_series(story.db, story.latency().id, 10);
  REQUIRE(points.size() == 4);
  CHECK(points[0].date == "2026-08-19");
  CHECK(points[0].values == std::vector{1.0, 1.0});
  CHECK(points[1].values == std::vector{1.25, 1.25});
  CHECK(points[2].version == "2.9.0.dev20260821+cpu");
  CHECK(points[2].values == std::vector{4.0, 4.0});
  CHECK(points[3].version == "2.10.0.dev20260821+cpu");
  CHECK(points[3].values == std::vector{3.0, 3.0, 3.5, 3.5});
  const auto newest = points_of_series(story.db, story.latency().id, 2);
  REQUIRE(newest.size() == 2);
  CHECK(newest[0].version == points[2].version);
  CHECK(points_of_series(story.db, SeriesId{99}, 2).empty());
}

TEST_CASE("the newest values of many series are those of each one's points") {
  Story story;
  const auto measure = [&](int day) {
    const std::string date = "2026-09-" + std::to_string(10 + day);
    story.good = add_build(Autocommit(story.db), nightly(date));
    story.night = story.start_night(story.good.id);
    story.measure(date, JobKind::screen, 1.0 + day, 9.0);
  };
  const auto values = [&](SeriesId id, int limit) {
    std::vector<std::vector<double>> all;
    for (const SeriesPoint& point : points_of_series(story.db, id, limit))
      all.push_back(point.values);
    std::sort(all.begin(), all.end());
    return all;
  };
  const Workload first = story.workload;
  const Workload second = intern_workload(Autocommit(story.db), first.name, 2);
  story.runner.workloads.add(first.name.str() + "@2");
  for (int day = 0; day < 8; ++day) {
    story.workload = day < 3 || day == 5 ? first : second;
    measure(day);
  }
  const auto series = list_series(story.db, {"latency", {}, {}}, {}).items;
  REQUIRE(series.size() == 2);
  for (const int limit : {1, 2, 3, 20}) {
    INFO(limit);
    auto newest = newest_values(story.db, {series[0].id, series[1].id}, limit);
    for (const Series& one : series) {
      std::sort(newest[one.id].begin(), newest[one.id].end());
      CHECK(newest[one.id] == values(one.id, limit));
    }
  }
  CHECK(newest_values(story.db, {series[1].id}, 2).at(series[1].id).size() == 2);
}

TEST_CASE("runs are listed by job, build and workload") {
  Story story;
  const Job job = story.measure("a");
  story.measure("b");
  CHECK(list_runs(story.db, {}, {}).items.size() == 12);
  CHECK(list_runs(story.db, {job.id, {}, {}}, {}).items.size() == 6);
  CHECK(list_runs(story.db, {{}, story.good.id, {}}, {}).items.size() == 4);
  CHECK(list_runs(story.db, {job.id, story.good.id, {}}, {}).items.size() == 2);
  CHECK(list_runs(story.db, {{}, {}, story.workload.id}, {}).items.size() == 8);
  const auto page = list_runs(story.db, {{}, {}, story.workload.id}, {5, std::nullopt});
  CHECK(list_runs(story.db, {{}, {}, story.workload.id}, {5, page.next}).items.size() == 3);
  CHECK_FALSE(find_run(story.db, RunId{99}));
}

TEST_CASE("a level is replaced for its build, and read newest night first") {
  Story story;
  story.measure("a");
  const SeriesId series = story.latency().id;
  const Night second = story.start_night(story.good.id), third = story.start_night(story.good.id);
  set_level(Autocommit(story.db), {series, story.bad.id, story.night.id, 1.0, 5});
  set_level(Autocommit(story.db), {series, story.good.id, second.id, 2.0, 5});
  const Build next = add_build(Autocommit(story.db), nightly("2026-08-22"));
  set_level(Autocommit(story.db), {series, next.id, third.id, 3.0, 5});
  set_level(Autocommit(story.db), {series, next.id, third.id, 3.5, 10});
  const auto all = levels_before(story.db, series, NightId{99}, 10);
  REQUIRE(all.size() == 3);
  CHECK(all[0].value == 3.5);
  CHECK(all[0].runs == 10);
  CHECK(all[2].value == 1.0);
  const auto before = levels_before(story.db, series, third.id, 1);
  REQUIRE(before.size() == 1);
  CHECK(before[0].value == 2.0);
  CHECK(before[0].build == story.good.id);
  CHECK(before[0].night == second.id);
  CHECK(levels_before(story.db, series, story.night.id, 10).empty());
}

TEST_CASE("the levels of many series are those of each, without those of cancelled nights") {
  Story story;
  story.measure("a");
  const std::vector<Series> series = list_series(story.db, {}, {}).items;
  REQUIRE(series.size() == 3);
  std::vector<SeriesId> ids;
  Night last;
  for (int day = 0; day < 4; ++day) {
    const Build build = add_build(Autocommit(story.db), nightly("2026-09-1" + std::to_string(day)));
    last = story.start_night(build.id);
    for (int i = 0; i <= 1; ++i)
      set_level(Autocommit(story.db), {series[i].id, build.id, last.id, 10.0 * i + day, 5});
  }
  for (const Series& one : series) ids.push_back(one.id);
  const auto require_equal = [&](NightId before) {
    const auto many = newest_levels(story.db, ids, before, 2);
    CHECK(many.count(series[2].id) == 0);
    for (int i = 0; i <= 1; ++i) {
      const auto levels = levels_before(story.db, series[i].id, before, 2);
      const auto& found = many.at(series[i].id);
      REQUIRE(found.size() == 2);
      REQUIRE(levels.size() == 2);
      for (int at = 0; at <= 1; ++at) {
        CHECK(found[at].value == levels[at].value);
        CHECK(found[at].night == levels[at].night);
      }
    }
    return many.at(series[1].id).front().value;
  };
  CHECK(require_equal(NightId{99}) == 13);
  CHECK(require_equal(last.id) == 12);
  last.state = NightState::cancelled;
  update_night(Autocommit(story.db), last);
  CHECK(require_equal(NightId{99}) == 12);
}

TEST_CASE("a series is marked by its name or by a glob, on its machine class and metric") {
  Story story;
  story.measure("a");
  const std::vector<Series> series = list_series(story.db, {}, {}).items;
  REQUIRE(series.size() == 3);
  const Series latency = story.latency();
  const MachineId other =
      intern_machine(Autocommit(story.db), {{}, sha256('2'), {{"cpu_model", "6502"}}}).id;
  const auto mark = [&](int night, const std::string& workload, const std::string& metric,
                        std::optional<MachineId> machine) {
    Mark made;
    made.after_night = NightId{night};
    made.workload = workload;
    made.metric = metric;
    made.machine = machine;
    add_mark(Autocommit(story.db), made);
  };
  const auto marked = [&] {
    const auto all = last_marked(story.db, series);
    const auto found = all.find(latency.id);
    const NightId night = found == all.end() ? NightId{} : found->second;
    CHECK(marked_until(story.db, latency) == night);
    return night.value;
  };
  CHECK(marked() == 0);
  mark(8, "native/**", "latency", {});
  mark(8, latency.workload_name.str(), "throughput", {});
  mark(8, latency.workload_name.str(), "latency", other);
  CHECK(marked() == 0);
  mark(4, latency.workload_name.str(), "latency", story.machine.id);
  CHECK(marked() == 4);
  CHECK(last_marked(story.db, series).size() == 1);
  mark(5, "python/*/eval/**", "*", {});
  CHECK(marked() == 5);
  CHECK(last_marked(story.db, series).size() == 3);
  mark(3, latency.workload_name.str(), "latency", {});
  CHECK(marked() == 5);
}
