#include "service/api/compared.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "storage/connection.hpp"
#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nightjar::service::ComparedSeries;
using nlohmann::json;

namespace {

ComparedSeries shown(std::int64_t id, const std::string& workload, const std::string& metric,
                     const std::vector<double>& before, const std::vector<double>& after) {
  const auto name = *WorkloadName::parse(workload);
  ComparedSeries one{{SeriesId{id}, WorkloadId{id}, name, 1, metric, MachineId{1}, "cpu"}};
  one.domain = domain_of(name);
  one.before = bisect::hodges_lehmann(before), one.after = bisect::hodges_lehmann(after);
  if (before.front() > 0 && after.front() > 0) one.change = bisect::shift(before, after, .95);
  one.difference = bisect::difference(before, after, .95);
  return one;
}

const std::vector<double> usual{1, 1.001, 1.002, .999, .998, 1};

std::vector<double> times(double factor) {
  std::vector<double> values = usual;
  for (double& value : values) value *= factor;
  return values;
}

Comparison some_series() {
  return {{},
          {},
          {shown(1, "python/bert/eval/cpu/fp32/b1/eager", "latency", usual, usual),
           shown(2, "python/bert/eval/cpu/fp32/b1/inductor", "latency", usual, times(1.1)),
           shown(3, "python/resnet18/eval/cpu/fp32/b1/eager", "latency", usual, times(.5)),
           shown(4, "python/dlrm/eval/cpu/fp32/b1/eager", "latency", usual, times(1.3)),
           shown(5, "python/dlrm/eval/cpu/fp32/b1/eager", "graph_breaks", {0, 0, 0, 0, 0, 0},
                 {2, 2, 2, 2, 2, 2})},
          {}};
}

std::vector<std::int64_t> ids(const std::vector<JudgedSeries>& all) {
  std::vector<std::int64_t> found;
  for (const JudgedSeries& judged : all) found.push_back(judged.one->series.id.value);
  return found;
}

// Three runs of the bad build.
void measure_again(World& world, const Day& day, const Night& night, const std::string& key) {
  world.on_writer([&] {
    world.db.impl().execute("UPDATE job SET state = 'cancelled' WHERE state = 'queued'");
    queue(world, day, night, job_spec(day, JobKind::screen, {day.bad}), key);
    const auto job = storage::claim_job(storage::Autocommit(world.db), day.runner, evening,
                                        evening + std::chrono::hours(1));
    REQUIRE(job);
    REQUIRE(job->key == key);
    SessionResult session;
    for (int order = 0; order < 4; ++order) session.runs.push_back(run_result(order, 1.2));
    REQUIRE(storage::store_result(storage::Autocommit(world.db), job->id, 1, session, evening) ==
            storage::Accepted::stored);
  });
}

}  // namespace

TEST_CASE("what differs beyond noise comes first, the largest change first") {
  const Comparison whole = some_series();
  const auto all = judged(whole, {}, .03);
  CHECK(ids(all) == std::vector<std::int64_t>{5, 3, 4, 2, 1});
  using enum Standing;
  CHECK(all[0].standing == worse);  // it has no ratio
  CHECK(all[1].standing == better);
  CHECK(all[2].standing == worse);
  CHECK(all[3].standing == worse);
  CHECK(all[4].standing == alike);
}

TEST_CASE("a change that is smaller than asked is alike, however clear it is") {
  const Comparison whole = some_series();
  const auto all = judged(whole, {}, .2);
  CHECK(ids(all) == std::vector<std::int64_t>{5, 3, 4, 2, 1});
  CHECK(all[3].standing == Standing::alike);
}

TEST_CASE("a change within the noise is alike, however large it is") {
  const auto wide = shown(1, "python/bert/eval/cpu/fp32/b1/eager", "latency", {1, 2, 3, 1, 2, 3},
                          {1.4, 2.5, 3.5, 1.3, 2.6, 3.3});
  CHECK(judged(wide, .03).standing == Standing::alike);
}

TEST_CASE("more of what is better the higher it is, is better") {
  const auto faster =
      shown(1, "python/bert/eval/cpu/fp32/b1/inductor", "speedup", usual, times(1.2));
  CHECK(judged(faster, .03).standing == Standing::better);
}

TEST_CASE("compared series are chosen by workload, metric, variant and machine") {
  const Comparison whole = some_series();
  const auto found = [&](const ComparedFilter& filter) {
    auto all = ids(judged(whole, filter, .03));
    std::sort(all.begin(), all.end());
    return all;
  };
  using Ids = std::vector<std::int64_t>;
  CHECK(found({.workload = {.domain = "language"}}) == Ids{1, 2});
  CHECK(found({.workload = {.model = "dlrm"}}) == Ids{4, 5});
  CHECK(found({.workload = {.model = "dlrm"}, .metric = "latency"}) == Ids{4});
  CHECK(found({.workload = {.backend = "inductor"}}) == Ids{2});
  CHECK(found({.variant = "cu126"}).empty());
  CHECK(found({.machine = MachineId{2}}).empty());
}

TEST_CASE("a group counts all of its series, and names its largest change beside its mean") {
  const Comparison whole = some_series();
  const auto groups = grouped(judged(whole, {}, .03), GroupBy::domain);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].name == "recommendation");
  CHECK(groups[0].worse == 2);
  CHECK(groups[0].largest->one->series.id == SeriesId{5});
  REQUIRE(groups[0].means.size() == 1);  // a count of zero has no ratio
  CHECK(groups[0].means[0].metric == "latency");
  CHECK(groups[0].means[0].ratio == Approx(1.3));
  CHECK(groups[1].name == "language");
  CHECK(groups[1].worse == 1);
  CHECK(groups[1].alike == 1);
  CHECK(groups[1].means[0].series == 2);
  CHECK(groups[1].means[0].ratio == Approx(std::sqrt(1.1)));
  CHECK(groups[2].name == "vision");
  CHECK(groups[2].better == 1);
  CHECK(grouped(judged(whole, {}, .03), GroupBy::model).size() == 3);
  CHECK(grouped(judged(whole, {}, .03), GroupBy::backend).size() == 2);
}

TEST_CASE("A comparison comes in pages, and its totals are over all of them") {
  World world;
  const Day day = fill(world);
  const auto target = "/api/v1/compare?good=" + std::to_string(day.good.id.value) +
                      "&bad=" + std::to_string(day.bad.id.value);
  const json whole = world.get(target).json;
  REQUIRE(whole["items"].size() == 2);  // latency, which is worse, and failures
  CHECK(whole["next_cursor"].is_null());
  CHECK(whole["items"][0]["metric"] == "latency");
  CHECK(whole["items"][0]["standing"] == "worse");
  CHECK(whole["items"][1]["standing"] == "alike");
  CHECK(whole["total"]["worse"] == 1);
  CHECK(whole["total"]["alike"] == 1);
  REQUIRE(whole["total"]["means"].size() == 1);  // that runs pass or fail has no mean
  CHECK(whole["total"]["means"][0]["metric"] == "latency");
  CHECK(whole["choices"]["metric"] == json({"failures", "latency"}));
  CHECK(whole["choices"]["suite"] == json({"python"}));

  const json first = world.get(target + "&limit=1").json;
  REQUIRE(first["items"].size() == 1);
  CHECK(first["items"][0] == whole["items"][0]);
  CHECK(first["total"] == whole["total"]);
  const json second =
      world.get(target + "&limit=1&cursor=" + first["next_cursor"].get<std::string>()).json;
  REQUIRE(second["items"].size() == 1);
  CHECK(second["items"][0] == whole["items"][1]);
  CHECK(second["next_cursor"].is_null());
  CHECK(world.get(target + "&cursor=999").json["items"].empty());
}

TEST_CASE("A comparison is filtered, and sent as CSV") {
  World world;
  const Day day = fill(world);
  const auto target = "/api/v1/compare?good=" + std::to_string(day.good.id.value) +
                      "&bad=" + std::to_string(day.bad.id.value);
  const auto count = [&](const std::string& query) {
    const auto reply = world.get(target + "&" + query);
    REQUIRE(reply.status == 200);
    return reply.json["items"].size();
  };
  CHECK(count("standing=worse") == 1);
  CHECK(count("standing=better") == 0);
  CHECK(count("least=25") == 2);
  CHECK(count("least=25&standing=worse") == 0);
  CHECK(count("metric=latency") == 1);
  CHECK(count("suite=python&model=resnet18&device=cpu") == 2);
  CHECK(count("suite=native") == 0);
  CHECK(count("domain=vision&size=small") == 0);
  CHECK(count("variant=cpu") == 2);
  CHECK(count("variant=cu126") == 0);
  CHECK(count("machine=99") == 0);
  for (const char* query : {"domain=sports", "size=large", "standing=odd", "least=0", "by=model"})
    CHECK(world.get(target + "&" + query).status == 400);

  CHECK(world.get(target + "&limit=501").status == 400);
  const auto csv = world.get(target + "&format=csv&limit=500&fields=series,standing").text;
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
  CHECK(csv.starts_with("series,standing\r\n"));
}

TEST_CASE("A comparison is grouped by what is asked, and the groups come in pages") {
  World world;
  const Day day = fill(world);
  const auto target = "/api/v1/compare/groups?good=" + std::to_string(day.good.id.value) +
                      "&bad=" + std::to_string(day.bad.id.value);
  const json domains = world.get(target).json["items"];
  REQUIRE(domains.size() == 1);
  CHECK(domains[0]["name"] == "vision");
  CHECK(domains[0]["worse"] == 1);
  CHECK(domains[0]["alike"] == 1);
  CHECK(domains[0]["largest"]["metric"] == "latency");
  const json first = world.get(target + "&by=metric&limit=1").json;
  REQUIRE(first["items"].size() == 1);
  CHECK(first["items"][0]["name"] == "latency");
  const json second =
      world.get(target + "&by=metric&limit=1&cursor=" + first["next_cursor"].get<std::string>())
          .json;
  REQUIRE(second["items"].size() == 1);
  CHECK(second["items"][0]["name"] == "failures");
  CHECK(second["items"][0]["largest"].is_null());
  CHECK(second["next_cursor"].is_null());
}

TEST_CASE("What is kept of comparisons is charged by its real size, and has limits") {
  World world;
  const Day day = fill(world);
  const auto bytes = [&](BuildId good, BuildId bad) {
    std::size_t size = 0;
    world.on_writer([&] { size = size_of(compare(world.db, good, bad)); });
    return size;
  };
  const std::size_t whole = bytes(day.good.id, day.bad.id);
  CHECK(whole > 2 * sizeof(ComparedSeries) + 2 * workload_text.size());
  const web::Ledger ledger({.comparisons = {whole + 1, whole + 1}}), small({.comparisons = {9, 9}});
  Comparisons comparisons(ledger), none(small);
  const auto held_after = [&](Comparisons& of, BuildId good, BuildId bad) {
    world.on_writer([&] { CHECK(of.of(world.db, good, bad)->items.size() <= 2); });
    return ledger.held(web::Account::comparisons);
  };
  CHECK(held_after(comparisons, day.good.id, day.bad.id) == whole);
  CHECK(held_after(comparisons, day.bad.id, day.good.id) == bytes(day.bad.id, day.good.id));
  held_after(none, day.good.id, day.bad.id);
  CHECK(small.held(web::Account::comparisons) == 0);
}

TEST_CASE("A comparison is read again when its own nights have new runs, and then only") {
  World world;
  const Day day = fill(world);
  Comparisons comparisons{web::Ledger({.comparisons = {1 << 20, 1 << 20}})};
  const auto made = [&] {
    std::shared_ptr<const Comparison> comparison;
    world.on_writer([&] { comparison = comparisons.of(world.db, day.good.id, day.bad.id); });
    return comparison;
  };
  const auto latency_runs = [](const Comparison& comparison) {
    for (const ComparedSeries& one : comparison.items)
      if (one.series.metric == "latency") return one.after_runs;
    return std::size_t{0};
  };
  const auto first = made();
  CHECK(latency_runs(*first) == 3);

  const Build next = add_nightly(world, 3, "2026-08-21");
  measure_again(world, day, add_night(world, next, NightState::measuring), "another night");
  CHECK(made() == first);
  measure_again(world, day, day.night, "the same night");
  CHECK(made() != first);
  CHECK(latency_runs(*made()) == 6);
}
