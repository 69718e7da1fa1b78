// The digest of each period is filed once, whatever is killed and however long the service is away.
// The issue of a large fix is, too.
#include "service/engine/outcome/digests.hpp"

#include <algorithm>
#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "service/report/outbox.hpp"
#include "storage/connection.hpp"
#include "storage/statement.hpp"
#include "tests/service/engine/night_world.hpp"
#include "tests/service/report/scripted_tracker.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using service::test::alpha_eval;
using service::test::NightWorld;

namespace {

Time moment(const char* text) {
  return parse_rfc3339(text).value();
}

// "2026-08-13T08:00:00Z to 2026-08-20T08:00:00Z".
std::string text_of(const std::optional<storage::Period>& period) {
  return period ? to_rfc3339(period->from) + " to " + to_rfc3339(period->until) : "none";
}

// On Thursdays at 12:00. The clock stands at 08:00 of Thursday, 2026-08-20.
struct WeeklyWorld : NightWorld {
  WeeklyWorld() {
    noise = .005;
    config.report.digest.on = {Weekday::thursday};
    config.report.digest.at = std::chrono::hours(12);
  }
  void pass(std::chrono::hours time) {
    clock.advance(time);
    settle();
  }
  // A night, before alpha's latency steps with the third commit.
  void begin_before_a_step() {
    level = [](int position, const std::string& workload, const std::string& metric) {
      if (metric != "latency") return 3e8;
      return .010 * (workload == alpha_eval && position >= 3 ? 1.3 : 1);
    };
    nightly("2026-08-20");
    settle();
  }
  // A nightly with four more commits, at the same hour of the next day.
  void next_night(const char* date) {
    clock.advance(std::chrono::hours(24));
    grow(4);
    nightly(date);
    settle();
  }
  std::vector<OutboxMessage> filed() const {
    auto all = storage::list_messages(db, {100, {}}).items;
    std::erase_if(all, [](const OutboxMessage& one) { return one.regression.has_value(); });
    return all;
  }
  // The periods that are stored, oldest first; "quiet" behind those that nobody was told of.
  std::vector<std::string> periods() const {
    storage::Statement find(db, "SELECT from_us, until_us, message FROM digest ORDER BY until_us");
    std::vector<std::string> list;
    while (find.step()) {
      const auto from = find.next<Time>(), until = find.next<Time>();
      list.push_back(text_of(storage::Period{from, until}) +
                     (find.next<std::optional<OutboxId>>() ? "" : " quiet"));
    }
    return list;
  }
};

DigestFacts due_facts() {
  DigestFacts facts;
  facts.now = moment("2026-08-20T12:00:05Z");
  facts.due = {moment("2026-08-13T12:00:00Z"), moment("2026-08-20T12:00:00Z")};
  facts.key = "digest:1";
  facts.digest.sessions = 3;
  return facts;
}

}  // namespace

TEST_CASE("a period ends on the latest configured day and begins on the one before") {
  Config::Report::Digest schedule;
  CHECK(text_of(finished_period(schedule, moment("2026-08-20T08:00:00Z"))) == "none");
  schedule.on = {Weekday::monday};
  const char* week = "2026-08-10T08:00:00Z to 2026-08-17T08:00:00Z";
  CHECK(text_of(finished_period(schedule, moment("2026-08-17T08:00:00Z"))) == week);
  CHECK(text_of(finished_period(schedule, moment("2026-08-24T07:59:59Z"))) == week);
  schedule.on = {Weekday::monday, Weekday::thursday};
  CHECK(text_of(finished_period(schedule, moment("2026-08-20T09:00:00Z"))) ==
        "2026-08-17T08:00:00Z to 2026-08-20T08:00:00Z");
  CHECK(text_of(finished_period(schedule, moment("2026-08-20T07:00:00Z"))) ==
        "2026-08-13T08:00:00Z to 2026-08-17T08:00:00Z");
  schedule.on.clear();
  for (const Weekday day : all_of<Weekday>()) schedule.on.push_back(day);
  schedule.at = std::chrono::minutes(23 * 60 + 59);
  CHECK(text_of(finished_period(schedule, moment("2026-03-01T00:00:00Z"))) ==
        "2026-02-27T23:59:00Z to 2026-02-28T23:59:00Z");
}

TEST_CASE("a quiet period is passed over, unless it is asked for or nothing was measured") {
  Config config;
  DigestFacts facts = due_facts();
  CHECK(std::holds_alternative<PassOver>(decide(facts, config).value()));
  config.report.digest.quiet = true;
  CHECK(std::holds_alternative<FileDigest>(decide(facts, config).value()));
  config.report.digest.quiet = false;
  facts.digest.void_sessions = 3;
  const auto unmeasured = decide(facts, config).value();
  REQUIRE(std::holds_alternative<FileDigest>(unmeasured));
  CHECK_THAT(std::get<FileDigest>(unmeasured).message.title, Contains(": nothing was measured"));
  facts.due.reset();
  CHECK_FALSE(decide(facts, config));
}

TEST_CASE("a digest's message opens an issue that belongs to no regression") {
  DigestFacts facts = due_facts();
  facts.digest.from = "2026-08-13", facts.digest.to = "2026-08-20";
  facts.digest.findings.resize(2);
  const auto step = decide(facts, {}).value();
  REQUIRE(std::holds_alternative<FileDigest>(step));
  const OutboxMessage& message = std::get<FileDigest>(step).message;
  CHECK_FALSE(message.regression);
  CHECK(message.kind == OutboxKind::open_issue);
  CHECK(message.title ==
        "Nightjar from 2026-08-13 to 2026-08-20: 2 new findings, 0 series that got better");
  CHECK_THAT(message.body, Contains(marker_of("digest:1")));
  CHECK(message.created_at == facts.now);
}

TEST_CASE("each week with news is told once, and a quiet one is not told") {
  WeeklyWorld world;
  world.begin_before_a_step();
  CHECK(world.periods().empty());  // a day is over only at its hour
  world.next_night("2026-08-21");
  REQUIRE(storage::regressions_in_state(world.db, RegressionState::reported).size() == 1);
  world.pass(std::chrono::hours(6 * 24));
  const std::vector<std::string> first = {"2026-08-13T12:00:00Z to 2026-08-20T12:00:00Z quiet"};
  CHECK(world.periods() == first);
  CHECK(world.filed().empty());
  world.pass(std::chrono::hours(5));
  REQUIRE(world.filed().size() == 1);
  CHECK_THAT(world.filed()[0].body, Contains("# Nightjar from 2026-08-20 to 2026-08-27"));
  CHECK_THAT(world.filed()[0].body, Contains("`" + alpha_eval + "`"));
  world.pass(std::chrono::hours(24));
  world.restart();
  world.settle();
  CHECK(world.filed().size() == 1);
  CHECK(world.periods().size() == 2);
}

TEST_CASE("a digest tells of a repair in its week, however long before the regression was opened") {
  WeeklyWorld world;
  world.begin_before_a_step();
  const auto broken = world.level;
  const std::size_t repaired_at = 30;  // after the eighth night
  world.level = [=](int position, const std::string& workload, const std::string& metric) {
    return broken(position < static_cast<int>(repaired_at) ? position : 0, workload, metric);
  };
  for (int day = 21; day <= 31; ++day) world.next_night(("2026-08-" + std::to_string(day)).c_str());
  const auto recovered = storage::regressions_in_state(world.db, RegressionState::recovered);
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].opened_at < moment("2026-08-27T12:00:00Z"));
  CHECK(recovered[0].updated_at > moment("2026-08-27T12:00:00Z"));
  world.pass(std::chrono::hours(3 * 24 + 5));
  REQUIRE(world.filed().size() >= 2);
  const OutboxMessage last = world.filed().front();  // the newest first
  CHECK_THAT(last.body, Contains("# Nightjar from 2026-08-27 to 2026-09-03"));
  CHECK_THAT(last.body, Contains("It repaired "));
}

TEST_CASE("weeks in which the service was away are not made up for") {
  WeeklyWorld world;
  world.nightly("2026-08-20");
  world.settle();
  world.clock.advance(std::chrono::hours(5 * 7 * 24 + 5));
  world.restart();
  world.settle();
  const std::vector<std::string> last = {"2026-09-17T12:00:00Z to 2026-09-24T12:00:00Z"};
  CHECK(world.periods() == last);
  REQUIRE(world.filed().size() == 1);
  CHECK_THAT(world.filed()[0].title, Contains(": nothing was measured"));
}

TEST_CASE("nothing is told of a time before the first night") {
  WeeklyWorld world;
  world.clock.advance(std::chrono::hours(5));
  world.nightly("2026-08-20");
  world.settle();
  CHECK(world.periods().empty());
}

TEST_CASE("after a change of days no time is told twice") {
  WeeklyWorld world;
  world.config.report.digest.quiet = true;
  world.nightly("2026-08-20");
  world.settle();
  world.pass(std::chrono::hours(5));
  world.config.report.digest.on = {Weekday::saturday};
  world.pass(std::chrono::hours(48));
  const std::vector<std::string> told = {"2026-08-13T12:00:00Z to 2026-08-20T12:00:00Z",
                                         "2026-08-20T12:00:00Z to 2026-08-22T12:00:00Z"};
  CHECK(world.periods() == told);
}

TEST_CASE("a digest that is killed before it is stored is filed afterwards, once") {
  WeeklyWorld world;
  world.config.report.digest.quiet = true;
  world.nightly("2026-08-20");
  world.settle();
  int refused = 0;
  world.before_tick = [&] {
    const auto refuse = [](void* count) { return ++*static_cast<int*>(count) > 0 ? 1 : 0; };
    sqlite3_commit_hook(world.db.impl().connection, refuse, &refused);
  };
  world.clock.advance(std::chrono::hours(5));
  world.tick_once();
  sqlite3_commit_hook(world.db.impl().connection, nullptr, nullptr);
  world.before_tick = nullptr;
  CHECK(refused > 0);
  CHECK(world.periods().empty());
  CHECK(world.filed().empty());  // neither the period nor its message
  world.restart();
  world.settle();
  CHECK(world.periods().size() == 1);
  CHECK(world.filed().size() == 1);
}

TEST_CASE("a digest that was posted before a kill is found again and posted no second time") {
  WeeklyWorld world;
  world.config.report.digest.quiet = true;
  world.nightly("2026-08-20");
  world.settle();
  world.pass(std::chrono::hours(5));
  ScriptedTracker tracker;
  OutboxSender sender(tracker, {"nightjar"}, world.clock);
  const auto due = next_due(world.db, world.clock.now());
  REQUIRE(due);
  CHECK_FALSE(due->issue);
  CHECK(sender.send(due->message, due->issue).state == OutboxState::sent);
  world.restart();  // what became of it was not stored
  world.settle();
  const auto again = next_due(world.db, world.clock.now());
  REQUIRE(again);
  const Sent sent = sender.send(again->message, again->issue);
  CHECK(sent.found_earlier);
  CHECK(tracker.issues.size() == 1);
  const auto stored = storage::write(world.db, [&](storage::Transaction& transaction) {
    return store(transaction, again->message, sent);
  });
  CHECK(stored.state == OutboxState::sent);
  CHECK_FALSE(next_due(world.db, world.clock.now()));
}

TEST_CASE("a digest says how the newest build differs from the reference") {
  WeeklyWorld world;
  world.begin_before_a_step();
  world.next_night("2026-08-21");
  SECTION("which was measured") {
    world.config.report.digest.reference = "2.14.0.dev20260820+cpu";
    world.pass(std::chrono::hours(7 * 24));
    REQUIRE(world.filed().size() == 1);
    const std::string body = world.filed()[0].body;
    CHECK_THAT(body, Contains("# `2.14.0.dev20260821+cpu`"));
    CHECK_THAT(body, Contains(" against `2.14.0.dev20260820+cpu`"));
    CHECK_THAT(body, Contains("**1 series is worse and 0 better**"));
  }
  SECTION("or that there is none") {
    world.config.report.digest.reference = "2.13.0+cpu";
    world.pass(std::chrono::hours(7 * 24));
    REQUIRE(world.filed().size() == 1);
    CHECK_THAT(world.filed()[0].body,
               Contains("## Against `2.13.0+cpu`\n\nThere is nothing to compare"));
  }
}

TEST_CASE("a fix of many workloads gets an issue of its own, once") {
  WeeklyWorld world;
  world.config.search_fixes = false;
  world.config.report.digest.on.clear();
  world.level = [](int position, const std::string&, const std::string& metric) {
    return metric == "latency" ? .010 * (position > 8 ? .7 : 1) : 3e8;
  };
  int wanted = 0;
  SECTION("if it is large enough") {
    world.config.report.fixes = 2;
    wanted = 1;
  }
  SECTION("and a smaller one none") {
    world.config.report.fixes = 3;
  }
  SECTION("and none where nobody asks for it") {
    world.config.report.fixes = 0;
  }
  for (const char* date : {"2026-08-20", "2026-08-21", "2026-08-22"}) world.next_night(date);
  CHECK(storage::list_improvements(world.db, {}).items.empty());
  for (const char* date : {"2026-08-23", "2026-08-24", "2026-08-25"}) world.next_night(date);
  REQUIRE(storage::list_improvements(world.db, {}).items.size() == 2);
  world.restart();
  world.settle();
  REQUIRE(static_cast<int>(world.filed().size()) == wanted);
  if (wanted == 0) return;
  const OutboxMessage message = world.filed()[0];
  CHECK_THAT(message.title, Contains("One of 4 commits made 2 workloads faster, by "));
  CHECK_THAT(message.body, Contains("The first build that has it is `2.14.0.dev20260822+cpu`."));
  CHECK_THAT(message.body, Contains("One of these commits did it; no search asked which"));
  CHECK_THAT(message.body, Contains(world.commits[9].brief()));
  CHECK_THAT(message.body, !Contains(world.commits[8].brief()));
}
