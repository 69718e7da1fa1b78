#include "storage/imports.hpp"

#include <catch2/catch.hpp>

#include "storage/model/metric.hpp"
#include "storage/suites.hpp"
#include "tests/storage/story.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

const WorkloadName resnet = *WorkloadName::parse("torchbench/resnet50/eval/cuda/fp32/b8/eager");

HistoryNight measured(int day, std::vector<double> latencies) {
  return {at(day * 86400),
          "",
          std::nullopt,
          "2026/metrics.json",
          {{resnet, "latency", std::move(latencies)}}};
}

struct Histories {
  Database db = Database::open_writer(":memory:");
  MachineId machine = intern_machine(Autocommit(db), {{}, sha256('7'), {{"imported", "A100"}}}).id;
  StoredHistory store(const HistoryNight& night) {
    Transaction transaction(db);
    KnownSeries known;
    const auto stored = store_history(transaction, machine, night, at(0), known);
    transaction.commit();
    return stored;
  }
};

}  // namespace

TEST_CASE("a night that was measured elsewhere is a night that is done, and says so") {
  Histories world;
  const auto stored = world.store(measured(3, {.5, .6, .7}));
  CHECK((stored.is_new && stored.added == 1 && stored.known == 0));
  const auto nights = list_nights(world.db, {}).items;
  REQUIRE(nights.size() == 1);
  CHECK(nights[0].trigger == NightTrigger::imported);
  CHECK(nights[0].state == NightState::done);
  CHECK(nights[0].started_at == at(3 * 86400));
  CHECK(nights[0].reason == "imported from 2026/metrics.json");
  const Build build = find_build(world.db, nights[0].build.value()).value();
  CHECK(build.state == BuildState::imported);
  CHECK(build.variant == imported_variant);
  const auto series = series_of_night(world.db, nights[0].id);
  REQUIRE(series.size() == 1);
  CHECK(series[0].variant == imported_variant);
  // A run's latency is the first decile of its samples, as of one that is measured here.
  const auto point = points_of_series(world.db, series[0].id, 5).at(0);
  CHECK(point.values.size() == 1);
  CHECK(point.values.at(0) == Approx(.52));
  CHECK_FALSE(newest_measured_night(world.db));
}

TEST_CASE("what was imported before adds nothing, and other values of it stay out") {
  Histories world;
  world.store(measured(1, {.5}));
  const auto again = world.store(measured(1, {.5}));
  CHECK((!again.is_new && again.added == 0 && again.known == 1 && again.differing == 0));
  const auto other = world.store(measured(1, {.9}));
  CHECK((!other.is_new && other.added == 0 && other.known == 0 && other.differing == 1));
  const auto series = series_to_judge(world.db, 5);
  REQUIRE(series.size() == 1);
  CHECK(points_of_series(world.db, series[0], 5).at(0).values == std::vector{.5});
}

TEST_CASE("a night that was stored in part is completed") {
  Histories world;
  world.store(measured(1, {.5}));
  HistoryNight whole = measured(1, {.5});
  whole.values.push_back({resnet, "peak_gpu_memory", {2e9}});
  whole.values.push_back({resnet, std::string(failures_metric), {failed_value}});
  const auto stored = world.store(whole);
  CHECK((!stored.is_new && stored.known == 1 && stored.added == 2));
  CHECK(list_nights(world.db, {}).items.size() == 1);
  CHECK(series_to_judge(world.db, 5).size() == 3);
}

TEST_CASE("nights are in the order in which they were measured, whenever they are imported") {
  Histories world;
  for (const int day : {5, 2, 9}) world.store(measured(day, {double(day)}));
  const auto series = series_to_judge(world.db, 5);
  std::vector<double> values;
  for (const auto& point : points_of_series(world.db, series.at(0), 9))
    values.push_back(point.values.at(0));
  CHECK(values == std::vector{2., 5., 9.});
}

TEST_CASE("a build is known by its commit, on whatever machine class it was measured") {
  Histories world;
  HistoryNight night = measured(1, {.5});
  night.commit = commit('c');
  world.store(night);
  world.machine = intern_machine(Autocommit(world.db), {{}, sha256('8'), {{"imported", "T4"}}}).id;
  CHECK(world.store(night).is_new);
  CHECK(builds_of_commit(world.db, commit('c')).size() == 1);
  const auto classes = imported_classes(world.db);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].name == "A100");
  CHECK(classes[1].name == "T4");
  CHECK((classes[1].nights == 1 && classes[1].series == 1 && classes[1].to_judge == 1));
}

TEST_CASE("a series waits to be judged until it is, and again when it gets a value") {
  Histories world;
  world.store(measured(1, {.5}));
  const auto series = series_to_judge(world.db, 5);
  REQUIRE(series.size() == 1);
  note_judged(Autocommit(world.db), series[0]);
  CHECK(series_to_judge(world.db, 5).empty());
  world.store(measured(1, {.5}));
  CHECK(series_to_judge(world.db, 5).empty());
  world.store(measured(2, {.5}));
  CHECK(series_to_judge(world.db, 5) == series);
}

TEST_CASE("dynamo's word is kept with its run, also where the compiler was not asked") {
  Histories world;
  const auto model = [](const char* name) {
    return *WorkloadName::parse(std::string("torchbench/") + name +
                                "/eval/cuda/fp32/bdefault/inductor");
  };
  HistoryNight night = measured(3, {.5});
  const std::string failures(failures_metric);
  night.values.push_back({model("alexnet"), failures, {1}, Accuracy::pass});
  night.values.push_back({model("dlrm"), failures, {failed_value}, Accuracy::OOM});
  night.values.push_back({model("vgg16"), failures, {}, Accuracy::eager_two_runs_differ});
  night.values.push_back({model("vgg16"), "speedup", {2}, {}});
  for (const bool again : {false, true}) {
    INFO("again: " << again);
    const StoredHistory stored = world.store(night);
    CHECK(stored.added == (again ? 0 : 4));
    CHECK(stored.known == (again ? 4 : 0));
    std::map<std::string, Accuracy> words;
    const auto runs = list_runs(world.db, {}, {50, {}}).items;
    CHECK(runs.size() == 5);
    for (const StoredRun& run : runs)
      if (run.result.accuracy)
        words[std::string(find_workload(world.db, run.workload)->name.model())] =
            *run.result.accuracy;
    CHECK(words == std::map<std::string, Accuracy>{{"alexnet", Accuracy::pass},
                                                   {"dlrm", Accuracy::OOM},
                                                   {"vgg16", Accuracy::eager_two_runs_differ}});
  }
}

TEST_CASE("a night that is stored in parts is whole at its end only, wherever it is cut off") {
  const std::string failures(failures_metric);
  HistoryNight night = measured(1, {.5});
  night.values.push_back({resnet, "peak_gpu_memory", {2e9}});
  night.values.push_back({resnet, failures, {1}, Accuracy::pass});
  night.values.push_back({resnet, "speedup", {1.5, 1.6}});
  const auto state_of = [](const Histories& world) {
    return list_jobs(world.db, {}, {}).items.at(0).state;
  };
  for (std::size_t cut_off = 1; cut_off < night.values.size(); ++cut_off) {
    INFO("after " << cut_off);
    Histories world;
    KnownSeries known;
    const auto part = [&](std::size_t first) {
      return store_history(Autocommit(world.db), world.machine, night, at(0), known, {first, 1});
    };
    for (std::size_t i = 0; i < cut_off; ++i) {
      const auto stored = part(i);
      CHECK((stored.next == i + 1 && stored.added == 1 && stored.is_new == (i == 0)));
    }
    CHECK(state_of(world) == JobState::failed);
    CHECK(suite_runs(world.db, list_nights(world.db, {}).items.at(0).id).empty());
    // Another process begins from the first value.
    known = {};
    std::size_t next = 0;
    int added = 0, kept = 0;
    while (next < night.values.size()) {
      const auto stored = part(next);
      next = stored.next;
      added += stored.added;
      kept += stored.known;
    }
    CHECK(std::cmp_equal(kept, cut_off));
    CHECK(std::cmp_equal(added + kept, night.values.size()));
    CHECK(state_of(world) == JobState::done);
    CHECK(list_runs(world.db, {}, {50, {}}).items.size() == 2);
    CHECK(suite_runs(world.db, list_nights(world.db, {}).items.at(0).id).size() == 2);
    CHECK(series_to_judge(world.db, 9).size() == 4);
  }
}

TEST_CASE("a part of a night ends after so many values or samples, and adds to a whole one alike") {
  Histories world;
  KnownSeries known;
  HistoryNight night = measured(1, {.5, .6, .7});
  night.values.push_back({resnet, "peak_gpu_memory", {2e9}});
  const auto store = [&](const HistoryPart& part) {
    return store_history(Autocommit(world.db), world.machine, night, at(0), known, part);
  };
  CHECK(store({0, 9, 3}).next == 1);
  CHECK(store({1, 9, 3}).next == 2);
  // What is there already leaves a whole night whole.
  CHECK(store({0, 1}).known == 1);
  CHECK(list_jobs(world.db, {}, {}).items.at(0).state == JobState::done);
  night.values.insert(night.values.begin(), {resnet, "speedup", {2}});
  CHECK(store({0, 1}).added == 1);
  CHECK(list_jobs(world.db, {}, {}).items.at(0).state == JobState::failed);
  CHECK(store({1}).known == 2);
  CHECK(list_jobs(world.db, {}, {}).items.at(0).state == JobState::done);
}

TEST_CASE("a series that was judged during an import is judged again with its next night") {
  Histories world;
  KnownSeries known;
  for (const int day : {1, 2}) {
    store_history(Autocommit(world.db), world.machine, measured(day, {.5}), at(0), known);
    const auto series = series_to_judge(world.db, 5);
    REQUIRE(series.size() == 1);
    note_judged(Autocommit(world.db), series[0]);
  }
}
