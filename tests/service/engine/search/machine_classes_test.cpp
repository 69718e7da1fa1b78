// One culprit that two machine classes show is one issue, whoever sees it first, and it closes when
// all recovered.
#include <set>

#include <catch2/catch.hpp>

#include "service/engine/outcome/joined_findings.hpp"
#include "service/engine/outcome/reporting.hpp"
#include "service/engine/outcome/unattributed.hpp"
#include "service/engine/verdict/extent.hpp"
#include "service/report/outbox.hpp"
#include "storage/affected_classes.hpp"
#include "storage/untold_findings.hpp"
#include "tests/service/engine/night_world.hpp"
#include "tests/service/engine/verdict/wide_world.hpp"
#include "tests/service/report/scripted_tracker.hpp"
#include "tests/support/any_state.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;
using service::test::WideWorld;

namespace {

// Whether the text has the workload with the machine class, in a table or in a list.
bool names_on_class(const std::string& text, const std::string& workload,
                    const std::string& machine) {
  const std::string name = "`" + workload + "`";
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const auto end = text.find('`', at + name.size());
    if (text.substr(at, end - at).find(machine) != std::string::npos) return true;
  }
  return false;
}

std::string only_comment(NightWorld& world) {
  auto messages = storage::list_messages(world.db, {100, {}}).items;
  std::erase_if(messages, [](const auto& one) { return one.kind != OutboxKind::comment; });
  REQUIRE(messages.size() == 1);
  return messages[0].body;
}

std::size_t series_of(const std::vector<Regression>& findings) {
  std::set<SeriesId> series;
  for (const Regression& one : findings)
    for (const AffectedSeries& shown : one.series) series.insert(shown.series);
  return series.size();
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
          workload == alpha_eval && position >= 9 && slow.count(measuring->machine) != 0;
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

TEST_CASE("what joins in a night is one comment, with all classes and all that got worse there") {
  WideWorld world;
  for (const char* name : {"other", "third"}) {
    Runner joining = world.enrol(name);
    joining.workloads = world.runner.workloads;
    world.others.push_back(storage::register_runner(storage::Autocommit(world.db), joining));
  }
  const std::vector<Runner> others = world.others;
  world.night();
  world.others.clear();
  world.step_at = 18;
  world.night();
  REQUIRE(storage::regressions_in_state(world.db, RegressionState::reported).size() == 1);
  world.others = others;
  world.night();
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  const auto joined = storage::merged_into(world.db, reported[0].id);
  const std::string comment = only_comment(world);
  std::vector<Regression> told = joined;
  std::erase_if(told, [&](const auto& one) { return one.night == reported[0].night; });
  CHECK(told.size() > others.size());
  CHECK(comment.find("New machine classes: machine class 2 (test other), machine class 3 (test "
                     "third).\n") != std::string::npos);
  CHECK(comment.find("the same cause moves " + std::to_string(series_of(told)) + " more series.") !=
        std::string::npos);
  for (const std::string& announced : world.runner.workloads) {
    const std::string workload = announced.substr(0, announced.find('@'));
    INFO(workload);
    CHECK(names_on_class(comment, workload, "machine class 2"));
    CHECK(names_on_class(comment, workload, "machine class 3"));
  }
  CHECK(storage::untold_findings(world.db).empty());

  // An issue that is opened after they joined has them, too.
  const auto context = world.context();
  const auto beside = worse_beside(context, reported[0], {}, joined);
  REQUIRE(beside.size() == 2);
  for (const ReportBeside& own : beside) {
    CHECK(own.metric == "latency");
    CHECK(own.worse.size() == 7);
    for (const auto& one : own.worse) CHECK(one.machine == own.worse[0].machine);
  }
  CHECK(beside[0].worse[0].machine != beside[1].worse[0].machine);
  CHECK(worse_beside(context, reported[0], joined, joined).empty());
}

TEST_CASE("a comment waits for what its date may still show, and no longer than is configured") {
  TwoClasses world;
  world.night(24);
  const RegressionId cause = world.in_state(RegressionState::reported).at(0).id;
  Regression joined = world.in_state(RegressionState::merged).at(0);
  const Time now = world.clock.now();
  storage::add_untold(storage::Autocommit(world.db), {joined.id, now});
  Night other;  // of another variant
  other.started_at = storage::find_night(world.db, joined.night)->started_at;
  other.state = NightState::measuring;
  other = storage::add_night(storage::Autocommit(world.db), other);
  const auto step = [&] {
    const EngineContext context = world.context();
    return decide(load_joined(context, load_untold(context).at(0)));
  };
  using std::holds_alternative;
  CHECK(load_untold(world.context()).at(0).id == cause);
  CHECK(holds_alternative<AwaitFindings>(step()));
  world.clock.advance(std::chrono::hours(12) - std::chrono::seconds(1));
  CHECK(holds_alternative<AwaitFindings>(step()));
  world.config.report.gather_hours = 11;
  CHECK(holds_alternative<TellFindings>(step()));
  world.config.report.gather_hours = 12;
  world.clock.advance(std::chrono::seconds(1));
  CHECK(holds_alternative<TellFindings>(step()));

  world.config.report.gather_hours = 100;
  other.started_at += std::chrono::hours(24);  // what another date shows is told for itself
  storage::update_night(storage::Autocommit(world.db), other);
  CHECK(holds_alternative<TellFindings>(step()));
  Regression open = joined;
  open.id = {};
  open.part = 1;
  open.merged_into.reset();
  storage::add_regression(storage::Autocommit(world.db), open,
                          {RegressionState::bisecting, now, "{}"});
  CHECK(holds_alternative<AwaitFindings>(step()));

  Regression standing = *storage::find_regression(world.db, cause);
  nightjar::test::change_to_any(storage::Autocommit(world.db), standing,
                                {RegressionState::blamed, now, "{}"});
  CHECK(holds_alternative<NamedByReport>(step()));
}

TEST_CASE("findings of a cause that joined another one are told in the other one's issue") {
  TwoClasses world;
  world.night(24);
  const Regression joined = world.in_state(RegressionState::merged).at(0);
  Regression root = world.in_state(RegressionState::reported).at(0);
  Regression older = root;
  older.id = {};
  older.part = 1;
  older.fingerprint = std::string(32, 'a');
  older = nightjar::test::add_in_any(storage::Autocommit(world.db), older,
                                     {RegressionState::reported, world.clock.now(), "{}"});
  root.merged_into = older.id;
  nightjar::test::change_to_any(storage::Autocommit(world.db), root,
                                {RegressionState::merged, world.clock.now(), "{}"});
  for (const RegressionId id : {root.id, joined.id})
    storage::add_untold(storage::Autocommit(world.db), {id, world.clock.now()});
  const EngineContext context = world.context();
  const auto causes = load_untold(context);
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].id == older.id);
  CHECK(causes[0].findings == std::vector{root.id, joined.id});
  CHECK(has_untold(context, older.id));
  CHECK_FALSE(has_untold(context, root.id));
  const JoinedStep step = decide(load_joined(context, causes[0]));
  REQUIRE(std::holds_alternative<TellFindings>(step));
  CHECK(std::get<TellFindings>(step).message.regression == older.id);
}

TEST_CASE("what a search could not name joins the cause that another machine class found") {
  TwoClasses world;
  world.night(24);
  Regression found = world.in_state(RegressionState::merged).at(0);
  found.merged_into.reset();
  found.culprit.reset();
  nightjar::test::change_to_any(
      storage::Autocommit(world.db), found,
      {RegressionState::unattributed, world.clock.now(), R"({"reason":"its runner was lost"})"});
  SECTION("at once") {
    world.settle();
    world.send();
    world.require_one_issue();
    const auto change = storage::changes_of(world.db, found.id).back();
    CHECK(change.state == RegressionState::merged);
    CHECK(change.evidence.text.find("a search on another machine class named") !=
          std::string::npos);
  }
  SECTION("also when it was told before") {
    // Beside a cause that is not named yet, it has got an issue of its own.
    Regression named = world.in_state(RegressionState::reported).at(0);
    const auto told = named;
    named.culprit.reset();
    named.series.resize(1);
    nightjar::test::change_to_any(storage::Autocommit(world.db), named,
                                  {RegressionState::unconfirmed, world.clock.now(), "{}"});
    found = storage::find_regression(world.db, found.id).value();
    found.series.resize(1);
    storage::update_regression(storage::Autocommit(world.db), found);
    world.settle();
    CHECK(storage::find_regression(world.db, found.id)->state == RegressionState::reported);
    named = told;
    nightjar::test::change_to_any(storage::Autocommit(world.db), named,
                                  {RegressionState::reported, world.clock.now(), "{}"});
    world.settle();
    found = storage::find_regression(world.db, found.id).value();
    CHECK(found.state == RegressionState::merged);
    CHECK(found.merged_into == named.id);
    const auto messages = storage::messages_of(world.db, found.id);
    REQUIRE_FALSE(messages.empty());
    CHECK(messages.back().kind == OutboxKind::close_issue);
    CHECK(messages.back().body.find("has the same cause, and an issue of its own") !=
          std::string::npos);
  }
  SECTION("but not while that search goes on") {
    Regression searched = world.in_state(RegressionState::reported).at(0);
    nightjar::test::change_to_any(storage::Autocommit(world.db), searched,
                                  {RegressionState::bisecting, world.clock.now(), "{}"});
    found = storage::find_regression(world.db, found.id).value();
    CHECK_FALSE(load_unattributed(world.context(), found).explained);
  }
  SECTION("nor where two causes were found") {
    Regression second = world.in_state(RegressionState::reported).at(0);
    second.id = {};
    second.part = 1;
    second.fingerprint = std::string(32, 'a');
    nightjar::test::add_in_any(storage::Autocommit(world.db), second,
                               {RegressionState::reported, world.clock.now(), "{}"});
    found = storage::find_regression(world.db, found.id).value();
    const UnattributedFacts facts = load_unattributed(world.context(), found);
    CHECK(facts.explained);
    CHECK_FALSE(facts.known);
  }
}

TEST_CASE("an issue is not closed before it has heard of all findings") {
  RecoveryFacts facts;
  CHECK(decide(facts, Config()));
  facts.has_untold = true;
  CHECK_FALSE(decide(facts, Config()));
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
