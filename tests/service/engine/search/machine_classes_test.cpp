// One culprit that two machine classes show is one issue, whoever sees it first, and it closes when
// all recovered.
#include <set>

#include <catch2/catch.hpp>

#include "service/engine/search/blame.hpp"
#include "service/engine/verdict/extent.hpp"
#include "service/report/outbox.hpp"
#include "storage/affected_classes.hpp"
#include "tests/service/engine/night_world.hpp"
#include "tests/service/engine/verdict/wide_world.hpp"
#include "tests/service/report/scripted_tracker.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::kAlpha;
using service::test::NightWorld;
using service::test::WideWorld;

namespace {

// Whether the text has the workload with the second machine class, in a table or in a list.
bool names_on_second(const std::string& text, const std::string& workload) {
  const std::string name = "`" + workload + "`";
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const auto end = text.find('`', at + name.size());
    if (text.substr(at, end - at).find("machine class 2") != std::string::npos) return true;
  }
  return false;
}

// Two machine classes; commit 9 slows alpha down on those in `slow`.
struct TwoClasses : NightWorld {
  std::set<MachineId> slow;
  ScriptedTracker tracker;
  int day = 0;

  TwoClasses() {
    noise = .01;
    others = {enrol("other")};
    slow = {runner.machine, others[0].machine};
    level = [this](int position, const std::string& workload, const std::string& metric) {
      if (metric != "latency") return 3e8;
      const bool slower =
          workload == kAlpha && position >= 9 && slow.count(measuring->machine) != 0;
      return .010 * (slower ? 1.2 : 1);
    };
    night(0);
  }

  void night(int commits_before) {
    grow(commits_before);
    nightly("2026-08-" + std::to_string(10 + day++));
    settle();
    send();
    clock.advance(std::chrono::hours(20));
    restart();
  }

  // As the daemon does.
  void send() {
    OutboxSender sender(tracker, {}, clock);
    while (const auto due = next_due(db, clock.now()))
      store(storage::Autocommit(db), due->message, sender.send(due->message, due->issue));
  }

  std::vector<Regression> in_state(RegressionState state) {
    return storage::regressions_in_state(db, state);
  }

  // One issue, of one regression that names both classes and into which the other is merged.
  void require_one_issue() {
    REQUIRE(tracker.issues.size() == 1);
    CHECK(in_state(RegressionState::reported).size() == 1);
    const auto merged = in_state(RegressionState::merged);
    REQUIRE(merged.size() == 1);
    const Regression reported = in_state(RegressionState::reported).at(0);
    CHECK(merged[0].merged_into == reported.id);
    REQUIRE(reported.issue_number);
    std::set<MachineId> machines;
    for (const AffectedSeries& shown : reported.series)
      machines.insert(storage::find_series(db, shown.series)->machine);
    CHECK(machines == slow);
    for (const AffectedClass& one : storage::affected_classes(db, reported.id)) {
      INFO("machine class " << one.machine.value);
      CHECK((one.state == ClassState::seen) == slow.contains(one.machine));
    }
  }
  std::string all_text() {
    std::string text = tracker.issues.at(0).body;
    for (const std::string& comment : tracker.issues[0].comments) text += comment;
    return text;
  }
};

}  // namespace

TEST_CASE("two machine classes that see one culprit in one night have one issue that names both") {
  TwoClasses world;
  world.night(24);
  world.require_one_issue();
  CHECK(world.all_text().find("test lab") != std::string::npos);
  CHECK(world.all_text().find("machine class 2 (test other)") != std::string::npos);
}

TEST_CASE(
    "a machine class that sees the culprit nights later joins the issue, whichever was first") {
  for (const bool other_first : {false, true}) {
    INFO("other first: " << other_first);
    TwoClasses world;
    const auto others = world.others;
    world.away = other_first;
    if (!other_first) world.others.clear();
    world.night(24);
    REQUIRE(world.tracker.issues.size() == 1);
    CHECK(world.in_state(RegressionState::reported).size() == 1);
    world.others = others;
    world.away = false;
    world.night(8);
    world.require_one_issue();
    REQUIRE(world.tracker.issues[0].comments.size() == 1);
    const std::string late =
        other_first ? "machine class 1 (test lab)" : "machine class 2 (test other)";
    CHECK(world.tracker.issues[0].comments[0].find(late) != std::string::npos);
  }
}

TEST_CASE("a class that joins names all series that got worse there, not the clearest alone") {
  WideWorld world;
  Runner other = world.enrol("other");
  other.workloads = world.runner.workloads;
  other = storage::register_runner(storage::Autocommit(world.db), other);
  world.others = {other};
  world.night();
  world.others.clear();
  world.step_at = 18;
  world.night();
  REQUIRE(storage::regressions_in_state(world.db, RegressionState::reported).size() == 1);
  world.others = {other};
  world.night();
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  std::string comments;
  int lists = 0;
  for (const OutboxMessage& message : storage::list_messages(world.db, {100, {}}).items) {
    if (message.kind != OutboxKind::comment) continue;
    comments += message.body;
    lists += message.body.find("Worse too") != std::string::npos;
  }
  CHECK(lists == 1);
  for (const std::string& announced : other.workloads) {
    const std::string workload = announced.substr(0, announced.find('@'));
    INFO(workload);
    CHECK(names_on_second(comments, workload));
  }

  // An issue that is opened after they joined has them, too.
  const auto context = world.context();
  const auto joined = storage::merged_into(world.db, reported[0].id);
  const auto beside = worse_beside(context, reported[0], {}, joined);
  REQUIRE(beside.size() == 1);
  CHECK(beside[0].metric == "latency");
  CHECK(beside[0].worse.size() == 7);
  for (const auto& one : beside[0].worse) CHECK(one.machine == other.machine);
  CHECK(worse_beside(context, reported[0], joined, joined).empty());
}

TEST_CASE("a class that joins later is a row, with the night in which it showed the cause") {
  TwoClasses world;
  const auto others = world.others;
  world.others.clear();
  world.night(24);
  const RegressionId id = world.in_state(RegressionState::reported).at(0).id;
  auto classes = storage::affected_classes(world.db, id);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].state == ClassState::seen);
  CHECK(classes[1].state == ClassState::not_looked_for);
  CHECK(world.all_text().find("| not looked for |") != std::string::npos);
  const NightId first = *classes[0].first_seen;
  world.others = others;
  world.night(8);
  classes = storage::affected_classes(world.db, id);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].first_seen == first);
  CHECK(classes[1].machine == others[0].machine);
  CHECK(classes[1].state == ClassState::seen);
  REQUIRE(classes[1].first_seen);
  CHECK(*classes[1].first_seen > first);
  REQUIRE(classes[1].low);
  CHECK(*classes[1].low > 1.07);
  CHECK(*classes[1].low < *classes[1].high);
}

TEST_CASE("a class that measured the model and saw nothing is a row, and the issue says so") {
  TwoClasses world;
  world.slow = {world.runner.machine};
  world.night(24);
  const auto reported = world.in_state(RegressionState::reported);
  REQUIRE(reported.size() == 1);
  const auto classes = storage::affected_classes(world.db, reported[0].id);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].state == ClassState::seen);
  CHECK(classes[1].machine == world.others[0].machine);
  CHECK(classes[1].state == ClassState::not_seen);
  REQUIRE(classes[1].ratio);
  CHECK(*classes[1].ratio == Approx(1).margin(.05));
  CHECK_FALSE(classes[1].first_seen);
  CHECK(world.all_text().find("## Machine classes") != std::string::npos);
  CHECK(world.all_text().find("| machine class 2 (test other) |") != std::string::npos);
  CHECK(world.all_text().find("| looked for and not seen |") != std::string::npos);
}

TEST_CASE("the issue of two machine classes closes when both have recovered, not before") {
  for (const bool first_recovers : {false, true}) {
    TwoClasses world;
    world.night(24);
    world.require_one_issue();
    const auto both = world.slow;
    world.slow = {first_recovers ? *both.rbegin() : *both.begin()};
    for (int night = 0; night < 4; ++night) world.night(4);
    CHECK(world.tracker.issues[0].open);
    CHECK(world.in_state(RegressionState::reported).size() == 1);
    world.slow.clear();
    for (int night = 0; night < 3; ++night) {
      CHECK(world.tracker.issues[0].open);
      world.night(4);
    }
    CHECK_FALSE(world.tracker.issues[0].open);
    CHECK(world.in_state(RegressionState::recovered).size() == 1);
    CHECK(world.tracker.issues.size() == 1);
  }
}
