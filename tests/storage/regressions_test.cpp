#include "storage/regressions.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "storage/affected_classes.hpp"
#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/any_state.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("a regression is kept with the evidence of each change of its state") {
  Story story;
  Regression regression = story.suspect();
  CHECK(regression.id);
  CHECK(regression.state == RegressionState::suspected);
  change_regression(Autocommit(story.db), regression,
                    {RegressionState::confirmed, at(30), R"({"rule":"confirm","ratio":1.25})"});
  regression.culprit = Culprit{{commit('a'), commit('b')}, 0.995, 1.25, 1.2, 1.3};
  regression.fingerprint = "nightjar:1";
  change_regression(Autocommit(story.db), regression, {RegressionState::bisecting, at(35), "{}"});
  change_regression(Autocommit(story.db), regression, {RegressionState::blamed, at(40), "{}"});

  const Regression stored = *find_regression(story.db, regression.id);
  CHECK(stored.state == RegressionState::blamed);
  CHECK(stored.night == story.night.id);
  CHECK(stored.machine == story.machine.id);
  CHECK(stored.good == story.good.id);
  CHECK(stored.bad == story.bad.id);
  REQUIRE(stored.culprit);
  CHECK(stored.culprit->commits == std::vector{commit('a'), commit('b')});
  CHECK(stored.culprit->probability == 0.995);
  CHECK(stored.culprit->ratio == 1.25);
  CHECK(stored.culprit->low == 1.2);
  CHECK(stored.culprit->high == 1.3);
  CHECK(stored.fingerprint == "nightjar:1");
  CHECK(stored.opened_at == at(20));
  CHECK(stored.updated_at == at(40));
  update_regression(Autocommit(story.db), regression);  // read before it changed
  CHECK(find_regression(story.db, regression.id)->updated_at == at(40));
  REQUIRE(stored.series.size() == 1);
  CHECK(stored.series[0].ratio == 1.25);
  CHECK(find_regression(story.db, "nightjar:1")->id == regression.id);
  CHECK_FALSE(find_regression(story.db, ""));
  CHECK_FALSE(find_regression(story.db, RegressionId{99}));

  const auto changes = changes_of(story.db, regression.id);
  REQUIRE(changes.size() == 4);
  CHECK(changes[0].state == RegressionState::suspected);
  CHECK(changes[1].state == RegressionState::confirmed);
  CHECK(changes[1].at == at(30));
  CHECK(changes[1].evidence.text == R"({"rule":"confirm","ratio":1.25})");
  CHECK(changes[3].state == RegressionState::blamed);
}

TEST_CASE("a change of state that the table does not have is refused, and nothing is stored") {
  Story story;
  const Regression regression = story.suspect();
  CHECK_THROWS_WITH(
      change_regression(Autocommit(story.db), regression, {RegressionState::blamed, at(30), "{}"}),
      "regression 1, which is suspected, cannot become blamed");
  Regression further = regression;
  further.part = 1;
  CHECK_THROWS_WITH(
      add_regression(Autocommit(story.db), further, {RegressionState::merged, at(30), "{}"}),
      "a regression cannot begin as merged");
  CHECK(changes_of(story.db, regression.id).size() == 1);
  CHECK(list_regressions(story.db, {}, {}).items.size() == 1);
}

TEST_CASE("a regression that is suspected again is the one that is there") {
  Story story;
  const Regression first = story.suspect();
  change_regression(Autocommit(story.db), first, {RegressionState::dismissed, at(30), "{}"});
  Regression again = first;
  again.id = {};
  const Regression stored =
      add_regression(Autocommit(story.db), again, {RegressionState::suspected, at(40), "{}"});
  CHECK(stored.id == first.id);
  CHECK(stored.state == RegressionState::dismissed);
  CHECK(changes_of(story.db, first.id).size() == 2);
  again.bad = story.good.id;
  CHECK(
      add_regression(Autocommit(story.db), again, {RegressionState::suspected, at(40), "{}"}).id !=
      first.id);
}

TEST_CASE("a change and its evidence are written together or not at all") {
  Story story;
  Regression regression = story.suspect();
  regression.issue_url = "somewhere";
  CHECK_THROWS_AS(change_regression(Autocommit(story.db), regression,
                                    {RegressionState::confirmed, at(30), "no JSON"}),
                  Error);
  CHECK(find_regression(story.db, regression.id)->state == RegressionState::suspected);
  CHECK(find_regression(story.db, regression.id)->issue_url.empty());
  CHECK(changes_of(story.db, regression.id).size() == 1);
}

TEST_CASE("a regression is updated without a change of state") {
  Story story;
  Regression regression = story.suspect();
  const auto memory =
      *find_series(story.db, story.workload.id, "peak_cpu_memory", story.machine.id, "cpu");
  regression.state = RegressionState::recovered;  // is not written
  regression.issue_number = 17;
  regression.issue_url = "https://example.org/issues/17";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  regression.series.push_back({memory.id, 0, 5, infinity, nan, infinity});
  update_regression(Autocommit(story.db), regression);
  const Regression stored = *find_regression(story.db, regression.id);
  CHECK(stored.state == RegressionState::suspected);
  CHECK(stored.issue_number == 17);
  RegressionFilter filter;
  filter.issue = 17;
  CHECK(list_regressions(story.db, filter, {}).items.size() == 1);
  filter.issue = 18;
  CHECK(list_regressions(story.db, filter, {}).items.empty());
  CHECK(stored.issue_url == "https://example.org/issues/17");
  REQUIRE(stored.series.size() == 2);
  CHECK(stored.series[1].series == memory.id);
  CHECK(stored.series[1].ratio == infinity);
  CHECK(std::isnan(stored.series[1].low));
  CHECK_FALSE(stored.culprit);
  CHECK(changes_of(story.db, regression.id).size() == 1);
  regression.id = RegressionId{99};
  CHECK_THROWS_WITH(update_regression(Autocommit(story.db), regression),
                    Catch::Contains("no regression 99"));
}

TEST_CASE("a regression without a series is refused") {
  Story story;
  CHECK_THROWS_AS(
      add_regression(Autocommit(story.db), {}, {RegressionState::suspected, at(0), "{}"}),
      std::invalid_argument);
}

TEST_CASE("a merged regression is not the one its fingerprint finds") {
  Story story;
  Regression first = story.suspect();
  first.fingerprint = "same";
  update_regression(Autocommit(story.db), first);
  Regression second = first;
  second.bad = story.good.id;
  second = add_regression(Autocommit(story.db), second, {RegressionState::suspected, at(30), "{}"});
  second.fingerprint = "same";
  second.merged_into = first.id;
  nightjar::test::change_to_any(Autocommit(story.db), second,
                                {RegressionState::merged, at(40), "{}"});
  CHECK(find_regression(story.db, "same")->id == first.id);
  CHECK(find_regression(story.db, second.id)->merged_into == first.id);
}

TEST_CASE("regressions are listed by each filter and by all at once") {
  Story story;
  Regression first = story.suspect();
  first.culprit = Culprit{{commit('a'), commit('b')}, 0.99, 1, 1, 1};
  nightjar::test::change_to_any(Autocommit(story.db), first,
                                {RegressionState::blamed, at(30), "{}"});
  Regression second = first;
  second.culprit.reset();
  second.bad = story.good.id;
  second.opened_at = at(500);
  second.series[0].series =
      find_series(story.db, story.workload.id, "peak_cpu_memory", story.machine.id, "cpu")->id;
  second =
      add_regression(Autocommit(story.db), second, {RegressionState::suspected, at(500), "{}"});

  const auto ids = [&](const RegressionFilter& filter) {
    std::vector<RegressionId> found;
    for (const Regression& one : list_regressions(story.db, filter, {}).items)
      found.push_back(one.id);
    return found;
  };
  using Ids = std::vector<RegressionId>;
  CHECK(ids({}) == Ids{second.id, first.id});
  CHECK(ids({.state = RegressionState::blamed,
             .metric = {},
             .workload = {},
             .since = {},
             .commit = {}}) == Ids{first.id});
  RegressionFilter filter;
  filter.metric = "latency";
  CHECK(ids(filter) == Ids{first.id});
  filter.metric = "peak_cpu_memory";
  CHECK(ids(filter) == Ids{second.id});
  filter = {};
  filter.workload.glob = "python/dlrm/**";
  CHECK(ids(filter) == Ids{second.id, first.id});
  filter.workload.glob = "native/**";
  CHECK(ids(filter).empty());
  filter = {};
  filter.series = second.series[0].series;
  CHECK(ids(filter) == Ids{second.id});
  filter = {};
  filter.since = at(500);
  CHECK(ids(filter) == Ids{second.id});
  filter = {};
  filter.changed_since = at(30);
  CHECK(ids(filter) == Ids{second.id, first.id});
  filter.changed_since = at(31);
  CHECK(ids(filter) == Ids{second.id});
  filter = {};
  filter.commit = commit('b');
  CHECK(ids(filter) == Ids{first.id});
  filter.commit = commit('c');
  CHECK(ids(filter).empty());
  filter = {RegressionState::blamed, "latency", {"**/eager"}, at(0), commit('a')};
  CHECK(ids(filter) == Ids{first.id});
  filter.since = at(21);
  CHECK(ids(filter).empty());

  const auto page = list_regressions(story.db, {}, {1, std::nullopt});
  CHECK(page.next == second.id.value);
  CHECK(list_regressions(story.db, {}, {1, page.next}).items[0].id == first.id);
  CHECK(regressions_in_state(story.db, RegressionState::suspected).size() == 1);
  CHECK(regressions_of_night(story.db, story.night.id).size() == 2);
  CHECK(regressions_of_night(story.db, NightId{9}).empty());
}

TEST_CASE("what was merged into a regression is found at whatever remove, and nothing else") {
  Story story;
  std::vector<Regression> all{story.suspect()};
  for (const int part : {1, 2, 3}) {
    Regression further = all[0];
    further.id = {};
    further.part = part;
    further.merged_into.reset();
    if (part < 3) further.merged_into = all.back().id;
    all.push_back(nightjar::test::add_in_any(Autocommit(story.db), further,
                                             {RegressionState::merged, at(30), "{}"}));
  }
  std::vector<RegressionId> ids;
  for (const Regression& one : merged_into(story.db, all[0].id)) ids.push_back(one.id);
  CHECK(ids == std::vector{all[1].id, all[2].id});
  CHECK(merged_into(story.db, all[3].id).empty());
}

namespace {

// A series of the same workload on a machine class of its own, with a GPU.
SeriesId series_elsewhere(Story& story) {
  const MachineClass other = intern_machine(
      Autocommit(story.db),
      {{}, sha256('2'), {{"cpu_model", "Z81"}, {"gpu", "NVIDIA L4, NVIDIA A100, NVIDIA L4"}}});
  const Runner lab = story.runner;
  story.runner = register_runner(
      Autocommit(story.db),
      {{}, "beta", other.id, {}, {"python/dlrm/eval/cpu/fp32/b4/eager@1"}, "0.1.0", at(0)});
  story.machine.id = other.id;
  story.measure("elsewhere/" + std::to_string(story.night.id.value));
  const SeriesId series = story.latency().id;
  story.machine.id = lab.machine;
  story.runner = lab;
  return series;
}

}  // namespace

TEST_CASE("the machine classes of a regression's series are rows, with the first night of each") {
  Story story;
  Regression first = story.suspect();
  const MachineId here = story.machine.id;
  auto classes = affected_classes(story.db, first.id);
  REQUIRE(classes.size() == 1);
  CHECK(classes[0].machine == here);
  CHECK(classes[0].state == ClassState::seen);
  CHECK(classes[0].first_seen == story.night.id);
  CHECK(classes[0].ratio == 1.25);
  CHECK(classes[0].low == 1.2);
  CHECK(classes[0].gpu.empty());

  // Another class sees it two nights later.
  story.night = story.start_night(story.bad.id);
  story.night = story.start_night(story.bad.id);
  Regression second = first;
  second.id = {};
  second.night = story.night.id;
  second.series = {{series_elsewhere(story), 1.0, 1.4, 1.4, 1.3, 1.5}};
  second.machine = find_series(story.db, second.series[0].series)->machine;
  second = add_regression(Autocommit(story.db), second, {RegressionState::suspected, at(0), "{}"});
  const MachineId other = second.machine;
  REQUIRE(other != here);
  set_classes_elsewhere(Autocommit(story.db), first.id, {{.machine = other}});
  CHECK(affected_classes(story.db, first.id).at(1).state == ClassState::not_looked_for);
  second.merged_into = first.id;
  nightjar::test::change_to_any(Autocommit(story.db), second,
                                {RegressionState::merged, at(1), "{}"});
  first.series.push_back(second.series[0]);
  update_regression(Autocommit(story.db), first);
  classes = affected_classes(story.db, first.id);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].first_seen == first.night);
  CHECK(classes[1].machine == other);
  CHECK(classes[1].state == ClassState::seen);
  CHECK(classes[1].first_seen == second.night);
  CHECK(classes[1].ratio == 1.4);
  CHECK(classes[1].high == 1.5);
  CHECK(classes[1].gpu == "NVIDIA A100, NVIDIA L4");

  // What is seen stays so, and only such classes find it.
  set_classes_elsewhere(Autocommit(story.db), first.id,
                        {{.machine = other, .state = ClassState::not_seen, .ratio = 1.0}});
  CHECK(affected_classes(story.db, first.id).at(1).state == ClassState::seen);
  const auto found_on = [&](MachineId machine) {
    RegressionFilter filter;
    filter.machine = machine;
    std::vector<RegressionId> ids;
    for (const Regression& one : list_regressions(story.db, filter, {50, {}}).items)
      ids.push_back(one.id);
    return ids;
  };
  CHECK(found_on(here) == std::vector{first.id});
  CHECK(found_on(other) == std::vector{second.id, first.id});
  CHECK(found_on(MachineId{99}).empty());
}

TEST_CASE("a class that looked and saw nothing does not find the regression") {
  Story story;
  const Regression regression = story.suspect();
  const MachineId other = intern_machine(Autocommit(story.db), {{}, sha256('2'), {{"a", "b"}}}).id;
  set_classes_elsewhere(Autocommit(story.db), regression.id,
                        {{.machine = other, .state = ClassState::not_seen, .ratio = 1.003}});
  const auto classes = affected_classes(story.db, regression.id);
  REQUIRE(classes.size() == 2);
  CHECK(classes[1].state == ClassState::not_seen);
  CHECK(classes[1].ratio == 1.003);
  CHECK_FALSE(classes[1].low);
  CHECK_FALSE(classes[1].first_seen);
  RegressionFilter filter;
  filter.machine = other;
  CHECK(list_regressions(story.db, filter, {50, {}}).items.empty());
}

TEST_CASE("the models of several GPUs are named once each") {
  CHECK(gpu_models({{"gpu", "none"}}).empty());
  CHECK(gpu_models({}).empty());
  CHECK(gpu_models({{"gpu", "NVIDIA H100, NVIDIA H100"}}) == "NVIDIA H100");
}
