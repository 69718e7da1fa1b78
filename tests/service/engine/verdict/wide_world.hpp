// Ten workloads of five models, night after night, for tests of detection.
#pragma once

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "storage/marks.hpp"
#include "tests/service/engine/night_world.hpp"
#include "tests/support/autocommit.hpp"

namespace nightjar::service::test {

inline const std::vector<std::string> model_names = {"alexnet", "bert", "dlrm", "resnet18", "unet"};

// A world with two workloads of each of five models, where everything may take longer for reasons
// of the machine (`machine`) or from a commit on (`step_at`).
struct WideWorld : NightWorld {
  double machine = 1;
  int step_at = 1'000'000;
  double step = 1.3;
  int day = 0;

  WideWorld() {
    runner.workloads = {};
    for (const std::string& model : model_names)
      for (const char* mode : {"train", "eval"})
        runner.workloads.add("python/" + model + "/" + mode + "/cpu/fp32/b4/eager@1");
    runner = storage::register_runner(storage::Autocommit(db), runner);
    level = [this](int position, const std::string&, const std::string& metric) {
      if (metric != "latency") return 3e8;
      return .010 * machine * (position >= step_at ? step : 1);
    };
  }

  void night(int commits_before = 12) {
    grow(commits_before);
    char date[32];
    std::snprintf(date, sizeof date, "2026-%02d-%02d", 1 + day / 28, 1 + day % 28);
    ++day;
    nightly(date);
    settle();
    clock.advance(std::chrono::hours(20));
    storage::touch_runner(storage::Autocommit(db), runner.id, clock.now());
  }

  // Another night on the build of the last one.
  void same_build_again() {
    Night again;
    again.build = storage::list_nights(db, {}).items.front().build;
    again.state = NightState::measuring;
    again.trigger = NightTrigger::api;
    again.started_at = clock.now();
    storage::add_night(storage::Autocommit(db), again);
    settle();
    clock.advance(std::chrono::hours(20));
    storage::touch_runner(storage::Autocommit(db), runner.id, clock.now());
  }

  // Returns the levels of one series, newest first.
  std::vector<Level> levels(const std::string& workload, const std::string& metric) {
    storage::SeriesFilter filter;
    filter.metric = metric;
    filter.workload.glob = "python/" + workload + "/**";
    const auto series = storage::list_series(db, filter, {10, {}}).items;
    REQUIRE(series.size() == 1);
    return storage::levels_before(db, series[0].id, NightId{1'000}, 100);
  }

  std::size_t count(RegressionState state) {
    return storage::regressions_in_state(db, state).size();
  }
  std::vector<storage::Mark> marks() { return storage::list_marks(db, {100, {}}).items; }
  // Regressions that the slow path opened.
  int creeps() {
    int found = 0;
    for (const Regression& regression : storage::list_regressions(db, {}, {500, {}}).items)
      found += storage::changes_of(db, regression.id).front().evidence.text.find("\"creep\"") !=
               std::string::npos;
    return found;
  }
  std::size_t issues() { return storage::list_messages(db, {100, {}}).items.size(); }
};

}  // namespace nightjar::service::test
