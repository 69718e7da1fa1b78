// Steps of the level in imported histories.
#include "service/engine/verdict/histories.hpp"

#include <catch2/catch.hpp>

#include "storage/bisections.hpp"
#include "storage/imports.hpp"
#include "storage/model/json.hpp"
#include "storage/series.hpp"
#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;

namespace {

struct ImportingWorld : NightWorld {
  MachineId elsewhere = storage::intern_machine(storage::Autocommit(db),
                                                {{}, web::sha256("x"), {{"imported", "A100"}}})
                            .id;
  // Nights [from, to) of latencies with little noise, `factor` times as long from `step` on.
  void import_nights(int from, int to, int step, double factor) {
    for (int day = from; day < to; ++day) import_night(day, day >= step ? factor : 1);
  }
  void import_levels(const std::vector<std::pair<double, int>>& levels) {
    int day = 0;
    for (const auto& [factor, nights] : levels)
      for (int i = 0; i < nights; ++i) import_night(day++, factor);
  }
  void import_night(int day, double factor) {
    HistoryNight night;
    night.measured_at = *parse_rfc3339("2026-01-01T07:00:00Z") + std::chrono::hours(24) * day;
    night.commit = CommitSha::parse(web::sha256(std::to_string(day)).str().substr(0, 40));
    const double jitter = 1 + .002 * ((day * 7) % 5 - 2);
    store(night, .1 * jitter * factor);
  }
  void import_release(const std::string& version, int day, double seconds) {
    HistoryNight night;
    night.measured_at = *parse_rfc3339("2026-01-01T19:00:00Z") + std::chrono::hours(24) * day;
    night.version = version;
    store(night, seconds);
  }
  void store(HistoryNight night, double seconds) {
    night.origin = "results";
    night.values = {{*WorkloadName::parse(alpha_eval), "latency", {seconds}}};
    storage::Transaction transaction(db);
    storage::KnownSeries known;
    storage::store_history(transaction, elsewhere, night, clock.now(), known);
    transaction.commit();
  }
  std::vector<Regression> findings() { return storage::list_regressions(db, {}, {}).items; }
  std::string date_of(BuildId build) { return storage::find_build(db, build).value().date; }
};

}  // namespace

TEST_CASE("a step in an imported history is found between its two nights, and nobody is blamed") {
  ImportingWorld world;
  world.import_nights(0, 40, 25, 1.15);
  CHECK(world.settle() == 0);
  const auto found = world.findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].state == RegressionState::historical);
  CHECK(found[0].found_by == FoundBy::history);
  CHECK(world.date_of(found[0].good) == "2026-01-25");
  CHECK(world.date_of(found[0].bad) == "2026-01-26");
  CHECK(found[0].series.at(0).ratio == Approx(1.15).epsilon(.01));
  CHECK_FALSE(found[0].culprit);
  CHECK_FALSE(found[0].range);
  CHECK(storage::list_messages(world.db, {}).items.empty());
  CHECK(storage::list_bisections(world.db, {}).items.empty());
  CHECK(storage::list_jobs(world.db, {.state = JobState::queued}, {}).items.empty());
  CHECK(storage::series_to_judge(world.db, 5).empty());
}

TEST_CASE("a release beside nightlies is a reference, and a history of releases is judged") {
  ImportingWorld world;
  world.import_nights(0, 24, 24, 1);
  world.settle();
  const auto level = [&] {
    const auto all = storage::list_series(world.db, {"latency", {}, world.elsewhere, {}}, {}).items;
    return storage::levels_before(world.db, all.at(0).id, NightId{999}, 1).at(0);
  };
  const double nightly = level().value;
  for (int i = 0; i < 8; ++i) world.import_release("2.9." + std::to_string(i), 24 + i, .3);
  world.settle();
  CHECK(world.findings().empty());
  CHECK(level().value == Approx(nightly));

  ImportingWorld releases;
  for (int i = 0; i < 24; ++i)
    releases.import_release("2." + std::to_string(i), i, i < 12 ? .1 : .13);
  releases.settle();
  CHECK(releases.findings().size() == 1);
}

TEST_CASE("nights that are added later are judged with the whole history") {
  ImportingWorld world;
  world.import_nights(0, 24, 24, 1);
  world.settle();
  CHECK(world.findings().empty());
  world.import_nights(24, 40, 24, 1.3);
  world.settle();
  REQUIRE(world.findings().size() == 1);
  CHECK(world.date_of(world.findings()[0].bad) == "2026-01-25");
  const auto id = world.findings()[0].id;
  const auto changes = storage::changes_of(world.db, id).size();
  world.import_nights(40, 50, 24, 1.3);
  world.settle();
  REQUIRE(world.findings().size() == 1);
  CHECK(storage::changes_of(world.db, id).size() == changes);
}

TEST_CASE("a history is judged when its import is over") {
  ImportingWorld world;
  Importing importing;
  EngineContext context = world.context();
  context.importing = &importing;
  const auto other = importing.begin(MachineId{world.elsewhere.value + 1});
  auto under_way = importing.begin(world.elsewhere);
  world.import_nights(0, 40, 25, 1.15);
  CHECK_FALSE(judge_histories(context));
  CHECK(world.findings().empty());
  under_way.reset();
  CHECK(judge_histories(context));
  CHECK(world.findings().size() == 1);
}

TEST_CASE("a step for the better is an improvement, and no regression") {
  ImportingWorld world;
  world.import_nights(0, 40, 25, .8);
  world.settle();
  CHECK(world.findings().empty());
  const auto improvements = storage::list_improvements(world.db, {}).items;
  REQUIRE(improvements.size() == 1);
  CHECK(world.date_of(improvements[0].build) == "2026-01-26");
}

TEST_CASE("a step that more nights no longer show is dismissed, and can come back") {
  const Series series{SeriesId{1},  WorkloadId{1}, *WorkloadName::parse(alpha_eval), 1, "latency",
                      MachineId{1}, "imported"};
  HistoryFacts facts{series, {}, {}, {}, {}, {}, {}, {}};
  facts.now = *parse_rfc3339("2026-08-20T08:00:00Z");
  for (int i = 1; i <= 30; ++i) {
    facts.medians.push_back(1 + .001 * (i % 3));
    facts.builds.push_back(BuildId{i});
    facts.nights.push_back(NightId{i});
  }
  Regression known;
  known.id = RegressionId{7};
  known.state = RegressionState::historical;
  known.good = BuildId{11};
  known.bad = BuildId{12};
  facts.known = {known};
  const HistoryVerdict gone = decide(facts);
  REQUIRE(gone.dismissed.size() == 1);
  CHECK(gone.opened.empty());

  facts.known[0].state = RegressionState::dismissed;
  for (std::size_t i = 11; i < facts.medians.size(); ++i) facts.medians[i] *= 1.2;
  const HistoryVerdict back = decide(facts);
  REQUIRE(back.opened.size() == 1);
  CHECK(back.opened[0].regression.id == RegressionId{7});
  CHECK(back.dismissed.empty());
  CHECK(back.levels.size() == 2);
}

TEST_CASE("one more night dismisses no large step beside a weak one") {
  for (const int last : {13, 16, 17, 18, 24}) {
    CAPTURE(last);
    ImportingWorld world;
    world.import_levels({{1.0, 6}, {2.4, 14}, {.8, 5}, {.95, last}});
    world.settle();
    const auto found = world.findings();
    REQUIRE(found.size() == 2);
    for (const Regression& one : found) CHECK(one.state == RegressionState::historical);
    CHECK(storage::list_improvements(world.db, {}).items.size() == 1);
    world.import_levels({{1.0, 6}, {2.4, 14}, {.8, 5}, {.95, last + 1}});
    world.settle();
    CHECK(world.findings().size() == 2);
    for (const Regression& one : world.findings()) CHECK(one.state == RegressionState::historical);
  }
}

TEST_CASE("small steps that reach the threshold together are one finding, from before to after") {
  ImportingWorld world;
  world.import_levels({{1, 15}, {1.04, 15}, {1.08, 15}});
  world.settle();
  auto found = world.findings();
  REQUIRE(found.size() == 1);
  CHECK(world.date_of(found[0].good) == "2026-01-15");
  CHECK(world.date_of(found[0].bad) == "2026-01-31");
  CHECK(found[0].series.at(0).ratio == Approx(1.08).epsilon(.005));
  CHECK(storage::levels_before(world.db, found[0].series.at(0).series, NightId{1000}, 10).size() ==
        3);
  world.import_levels({{1, 15}, {1.04, 15}, {1.08, 15}, {1.12, 15}});
  world.settle();
  found = world.findings();
  REQUIRE(found.size() == 1);  // the climb goes on: the finding stands as it was found
  CHECK(found[0].state == RegressionState::historical);
  CHECK(world.date_of(found[0].bad) == "2026-01-31");
}

TEST_CASE("the evidence of a step holds all that it was found in") {
  ImportingWorld world;
  world.import_nights(0, 40, 25, 1.15);
  world.settle();
  const auto change = storage::changes_of(world.db, world.findings().at(0).id).at(0);
  CHECK(change.state == RegressionState::historical);
  const auto said = nlohmann::json::parse(change.evidence.text);
  CHECK(said["stage"] == "history");
  CHECK(said["medians"].size() == 40);
  CHECK(said["builds"].size() == 40);
  CHECK(said["position"] == 25);
}

TEST_CASE("an imported night does not stand in the way of the next measured one") {
  ImportingWorld world;
  world.nightly("2026-08-19");
  world.settle();
  world.import_nights(0, 20, 30, 1);
  world.grow(3);
  world.nightly("2026-08-20");
  CHECK(world.settle() > 0);
  const auto newest = storage::newest_measured_night(world.db);
  REQUIRE(newest);
  CHECK(newest->state == NightState::done);
  CHECK(newest->trigger != NightTrigger::imported);
}
