#include <catch2/catch.hpp>

#include "tests/storage/story.hpp"
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
    change_regression(Autocommit(story.db), regression, {RegressionState::reported, at(60), "{}"});
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
}
