#include <catch2/catch.hpp>

#include "storage/digests.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/any_state.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {
OutboxMessage message(const Regression& regression, const std::string& key) {
  OutboxMessage message;
  message.key = key;
  message.regression = regression.id;
  message.title = "dlrm got 25 % slower";
  message.body = "<!-- " + key + " -->";
  message.created_at = at(50);
  return message;
}
}  // namespace

TEST_CASE("a message is queued once, whoever queues it again") {
  Story story;
  const Regression regression = story.suspect();
  add_message(Autocommit(story.db), message(regression, "issue/1"));
  OutboxMessage again = message(regression, "issue/1");
  again.title = "another title";
  add_message(Autocommit(story.db), again);
  const auto pending = pending_messages(story.db, at(60));
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].title == "dlrm got 25 % slower");
  CHECK(pending[0].body == "<!-- issue/1 -->");
  CHECK(pending[0].kind == OutboxKind::open_issue);
  CHECK(pending[0].created_at == at(50));
}

TEST_CASE("a message is written with the state it reports, or not at all") {
  Story story;
  const Regression regression = story.suspect();
  {
    Transaction transaction(story.db);
    nightjar::test::change_to_any(Autocommit(story.db), regression,
                                  {RegressionState::reported, at(60), "{}"});
    add_message(Autocommit(story.db), message(regression, "issue/1"));
  }
  CHECK(pending_messages(story.db, at(60)).empty());
  CHECK(find_regression(story.db, regression.id)->state == RegressionState::suspected);
}

TEST_CASE("a message waits until it may be sent, and is sent once") {
  Story story;
  const Regression regression = story.suspect();
  add_message(Autocommit(story.db), message(regression, "issue/1"));
  add_message(Autocommit(story.db), message(regression, "comment/1"));
  OutboxMessage first = pending_messages(story.db, at(60)).at(0);
  first.attempts = 1;
  first.not_before = at(100);
  first.error = "502";
  update_message(Autocommit(story.db), first);
  const auto now = pending_messages(story.db, at(99));
  REQUIRE(now.size() == 1);
  CHECK(now[0].key == "comment/1");
  REQUIRE(pending_messages(story.db, at(100)).size() == 2);
  CHECK(pending_messages(story.db, at(100))[0].error == "502");
  CHECK(pending_messages(story.db, at(100))[0].attempts == 1);

  first.state = OutboxState::sent;
  first.url = "https://example.org/issues/1";
  update_message(Autocommit(story.db), first);
  CHECK(pending_messages(story.db, at(200)).size() == 1);
  const auto all = messages_of(story.db, regression.id);
  REQUIRE(all.size() == 2);
  CHECK(all[0].state == OutboxState::sent);
  CHECK(all[0].url == "https://example.org/issues/1");
  CHECK(list_messages(story.db, {1, std::nullopt}).items[0].key == "comment/1");
  CHECK(list_messages(story.db, {}, OutboxState::sent).items.size() == 1);
  CHECK(list_messages(story.db, {}, OutboxState::failed).items.empty());
}

TEST_CASE("a regression's verdicts reach the export in their order, whatever is sent again") {
  Story story;
  const Regression regression = story.suspect();
  for (const char* key : {"verdict:1", "taken-back:1"}) {
    OutboxMessage one = message(regression, key);
    one.kind = OutboxKind::verdict;
    add_message(Autocommit(story.db), one);
  }
  OutboxMessage first = pending_messages(story.db, at(60)).at(0);
  REQUIRE(first.key == "verdict:1");
  first.not_before = at(100);
  update_message(Autocommit(story.db), first);
  CHECK(pending_messages(story.db, at(99)).empty());
  CHECK(is_overtaken(story.db, first));
  first.state = OutboxState::failed;
  update_message(Autocommit(story.db), first);
  REQUIRE(pending_messages(story.db, at(99)).size() == 1);
  CHECK(pending_messages(story.db, at(99))[0].key == "taken-back:1");
  CHECK_FALSE(is_overtaken(story.db, pending_messages(story.db, at(99))[0]));
}

TEST_CASE("what the tracker refused for good is told, the newest first, and not for ever") {
  Story story;
  const Regression regression = story.suspect();
  for (const char* key : {"issue/1", "comment/1", "comment/2"})
    add_message(Autocommit(story.db), message(regression, key));
  for (OutboxMessage one : pending_messages(story.db, at(60))) {
    if (one.key != "comment/2") one.state = OutboxState::failed;
    update_message(Autocommit(story.db), one);
  }
  const auto refused = refused_messages(story.db, at(50));
  REQUIRE(refused.size() == 2);
  CHECK(refused[0].key == "comment/1");
  CHECK(refused_messages(story.db, at(51)).empty());
  CHECK(count_messages(story.db) ==
        std::map<OutboxState, int>{{OutboxState::pending, 1}, {OutboxState::failed, 2}});
}

TEST_CASE("a message that belongs to no regression can only open an issue") {
  Story story;
  OutboxMessage digest;
  digest.key = "digest:1";
  digest.created_at = at(50);
  add_message(Autocommit(story.db), digest);
  REQUIRE(pending_messages(story.db, at(60)).size() == 1);
  CHECK_FALSE(pending_messages(story.db, at(60))[0].regression);
  digest.key = "digest:2";
  digest.kind = OutboxKind::comment;
  CHECK_THROWS_AS(add_message(Autocommit(story.db), digest), Error);
}

TEST_CASE("a period is stored once, with its message or not at all") {
  Story story;
  OutboxMessage digest;
  digest.key = "digest:1";
  add_digest(Autocommit(story.db), {at(0), at(10)}, digest, at(11));
  CHECK(has_digest(story.db, at(10)));
  CHECK_FALSE(has_digest(story.db, at(9)));
  digest.key = "digest:2";
  CHECK_THROWS_AS(add_digest(Autocommit(story.db), {at(5), at(10)}, digest, at(12)), Error);
  CHECK(list_messages(story.db, {9, {}}).items.size() == 1);
  add_digest(Autocommit(story.db), {at(10), at(20)}, {}, at(21));
  CHECK(list_messages(story.db, {9, {}}).items.size() == 1);
  CHECK(last_digest_before(story.db, at(20)) == at(10));
  CHECK_FALSE(last_digest_before(story.db, at(10)));
}

TEST_CASE("fixes are those of nights that are over, of enough workloads, until they are told") {
  Story story;
  const SeriesId latency = story.suspect().series.front().series;
  const auto better = [&](SeriesId series, Time when) {
    add_improvement(Autocommit(story.db), {0, story.night.id, series, story.bad.id, 2, 1, when});
  };
  better(latency, at(50));
  CHECK(untold_fixes(story.db, at(0), 1).empty());  // its night is not over
  story.night.state = NightState::done;
  update_night(Autocommit(story.db), story.night);
  CHECK(untold_fixes(story.db, at(0), 2).empty());
  CHECK(untold_fixes(story.db, at(51), 1).empty());
  const auto fixes = untold_fixes(story.db, at(50), 1);
  REQUIRE(fixes.size() == 1);
  CHECK(fixes.begin()->first == story.bad.id);
  CHECK(fixes.begin()->second.size() == 1);
  OutboxMessage message;
  message.key = "fix:1";
  add_fix_report(Autocommit(story.db), story.bad.id, message);
  CHECK(untold_fixes(story.db, at(0), 1).empty());
  CHECK_THROWS_AS(add_fix_report(Autocommit(story.db), story.bad.id, message), Error);
  CHECK(list_messages(story.db, {9, {}}).items.size() == 1);
}

TEST_CASE("a build is compared with once its night is done") {
  Story story;
  CHECK_FALSE(measured_build(story.db, story.bad.version));
  CHECK_FALSE(newest_measured(story.db, story.bad.variant, at(1'000'000)));
  story.night.state = NightState::done;
  update_night(Autocommit(story.db), story.night);
  CHECK(measured_build(story.db, story.bad.version) == story.bad.id);
  CHECK(newest_measured(story.db, story.bad.variant, at(1'000'000)) == story.bad.id);
  CHECK_FALSE(newest_measured(story.db, story.bad.variant, story.night.started_at));
  CHECK_FALSE(newest_measured(story.db, "cu126", at(1'000'000)));
  CHECK(first_night_began(story.db) == story.night.started_at);
}
