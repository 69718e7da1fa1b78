#include "service/engine/outcome/unattributed.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;

namespace {

// Alpha's latency and memory step at these commits; the minutes of a search do not suffice.
void begin(NightWorld& world, int latency, int memory) {
  world.run_seconds = 60;
  world.config.search_minutes = std::chrono::minutes(10);
  world.noise = .004;
  world.level = [=](int position, const std::string& workload, const std::string& metric) {
    const double usual = metric == "latency" ? .010 : 3e8;
    if (workload != alpha_eval) return usual;
    return usual * (position < (metric == "latency" ? latency : memory) ? 1 : 1.4);
  };
  world.nightly("2026-08-18");
  world.settle();
}

void pass_night(NightWorld& world, int day) {
  world.grow(40);
  world.clock.advance(std::chrono::hours(24));
  world.nightly("2026-08-" + std::to_string(day));
  world.settle();
}

constexpr int never = 1000;

std::vector<OutboxMessage> messages(NightWorld& world, OutboxKind kind) {
  std::vector<OutboxMessage> all = storage::list_messages(world.db, {100, {}}).items;
  std::erase_if(all, [kind](const OutboxMessage& message) { return message.kind != kind; });
  return all;
}

std::vector<Regression> standing_in(NightWorld& world, RegressionState state) {
  return storage::regressions_in_state(world.db, state);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what no commit could be named for gets an issue that blames nobody and says why") {
  NightWorld world;
  begin(world, 17, never);
  pass_night(world, 19);
  const auto reported = standing_in(world, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK_FALSE(reported[0].culprit);
  CHECK_FALSE(reported[0].range);
  const auto issues = messages(world, OutboxKind::open_issue);
  REQUIRE(issues.size() == 1);
  CHECK(has(issues[0].title, "between 2.14.0.dev20260818+cpu and 2.14.0.dev20260819+cpu"));
  CHECK(has(issues[0].body, "nobody is blamed; 40 commits lie between them."));
  CHECK(has(issues[0].body, "Reason: the budget of minutes is spent: 10 minutes of measuring"));
  std::vector<RegressionState> states;
  for (const auto& change : storage::changes_of(world.db, reported[0].id))
    states.push_back(change.state);
  // It is confirmed, and then it is the source's and not the wheel's.
  CHECK(states == std::vector{RegressionState::suspected, RegressionState::confirmed,
                              RegressionState::confirmed, RegressionState::bisecting,
                              RegressionState::unattributed, RegressionState::reported});

  pass_night(world, 20);  // the level is the new one: nothing is said again
  CHECK(messages(world, OutboxKind::open_issue).size() == 1);
  CHECK(messages(world, OutboxKind::comment).empty());
}

TEST_CASE("findings between the same builds that no commit could be named for share an issue") {
  NightWorld world;
  begin(world, 11, 30);
  pass_night(world, 19);
  const auto reported = standing_in(world, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].series.size() == 2);
  const auto merged = standing_in(world, RegressionState::merged);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].merged_into == reported[0].id);
  const auto issues = messages(world, OutboxKind::open_issue);
  REQUIRE(issues.size() == 1);
  CHECK(has(issues[0].body, "latency"));
  CHECK(has(issues[0].body, "peak CPU memory"));
  CHECK(messages(world, OutboxKind::comment).empty());  // the issue itself names both
}

TEST_CASE("a digest has the findings of a week in one issue, and each says why it has no name") {
  NightWorld world;
  world.config.report.unattributed = UnattributedReports::digest;
  begin(world, 17, 60);
  pass_night(world, 19);
  pass_night(world, 20);
  const auto issues = messages(world, OutboxKind::open_issue);
  REQUIRE(issues.size() == 1);
  CHECK(has(issues[0].title, "week of " + week_of(world.clock.now())));
  CHECK(has(issues[0].body, "latency"));
  CHECK_FALSE(has(issues[0].body, "peak CPU memory"));
  const auto comments = messages(world, OutboxKind::comment);
  REQUIRE(comments.size() == 1);
  CHECK(has(comments[0].body, "Another finding that no commit could be named for"));
  CHECK(has(comments[0].body, "peak CPU memory"));
  CHECK(has(comments[0].body, "Reason: the budget of minutes is spent"));
  CHECK(standing_in(world, RegressionState::reported).size() == 1);

  world.clock.advance(std::chrono::days(7));
  CHECK(standing_in(world, RegressionState::unattributed).empty());
}

TEST_CASE("nobody hears of what no commit could be named for where nobody wants to") {
  NightWorld world;
  world.config.report.unattributed = UnattributedReports::none;
  begin(world, 17, never);
  pass_night(world, 19);
  CHECK(standing_in(world, RegressionState::inconclusive).size() == 1);
  CHECK(messages(world, OutboxKind::open_issue).empty());
}

TEST_CASE("a level that is back closes the issue of what no commit could be named for") {
  NightWorld world;
  begin(world, 17, never);
  pass_night(world, 19);
  REQUIRE(standing_in(world, RegressionState::reported).size() == 1);
  world.level = [](int, const std::string&, const std::string& metric) {
    return metric == "latency" ? .010 : 3e8;
  };
  for (const int day : {20, 21, 22}) pass_night(world, day);
  CHECK(standing_in(world, RegressionState::recovered).size() == 1);
  CHECK(messages(world, OutboxKind::close_issue).size() == 1);
}

TEST_CASE("builds whose commits do not follow one another lead to how they were built") {
  NightWorld world;
  begin(world, never, never);
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    return (metric == "latency" ? .010 : 3e8) * (position > 0 && workload == alpha_eval ? 1.4 : 1);
  };
  world.clock.advance(std::chrono::hours(24));
  world.commits.push_back(world.graph.commit("elsewhere", "Another root", {{"torch/x.py", "1"}}));
  world.nightly("2026-08-19");
  world.settle();
  const auto issues = messages(world, OutboxKind::open_issue);
  REQUIRE(issues.size() == 1);
  CHECK(has(issues[0].body, "do not follow one another on the main branch"));
  CHECK(has(issues[0].body, "Compare how the two wheels were built"));
  CHECK_FALSE(has(issues[0].body, "commits lie between"));
}

TEST_CASE("a digest's week begins on Monday") {
  CHECK(week_of(*parse_rfc3339("2026-08-20T23:59:59Z")) == "2026-08-17");
  CHECK(week_of(*parse_rfc3339("2026-08-17T00:00:00Z")) == "2026-08-17");
  CHECK(week_of(*parse_rfc3339("2026-08-16T23:59:59Z")) == "2026-08-10");
}
