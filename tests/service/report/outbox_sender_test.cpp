#include "service/report/outbox_sender.hpp"

#include <catch2/catch.hpp>

#include "service/report/outbox.hpp"
#include "service/report/report.hpp"
#include "storage/outbox.hpp"
#include "tests/service/report/scripted_tracker.hpp"
#include "tests/support/manual_clock.hpp"

using namespace nightjar;
using namespace nightjar::service;
using namespace std::chrono_literals;
using Fault = ScriptedTracker::Fault;

namespace {

struct SenderFixture {
  ScriptedTracker tracker;
  ManualClock clock{*parse_rfc3339("2026-08-20T10:00:00Z")};
  OutboxSender sender{tracker, {"nightjar"}, clock};

  OutboxMessage message(OutboxKind kind, std::string key) {
    OutboxMessage one;
    one.key = std::move(key);
    one.kind = kind;
    one.title = kind == OutboxKind::open_issue ? "title" : "";
    one.body = "body\n" + marker_of(one.key) + "\n";
    return one;
  }
  // Sends as the engine does, again and again, until it is through or given up.
  Sent deliver(OutboxMessage& one, std::optional<std::int64_t> issue = {}) {
    for (int i = 0; i < 20; ++i) {
      const Sent sent = sender.send(one, issue);
      sent.apply_to(one);
      if (sent.state != OutboxState::pending) return sent;
      clock.advance(*sent.not_before - clock.now());
    }
    FAIL("it never got through");
    return {};
  }
};

}  // namespace

TEST_CASE_METHOD(SenderFixture, "An issue is opened with its labels and its number comes back") {
  OutboxMessage one = message(OutboxKind::open_issue, "regression:1");
  const Sent sent = deliver(one);
  REQUIRE(sent.issue);
  CHECK(sent.issue->number == 1);
  CHECK_FALSE(sent.found_earlier);
  CHECK(one.state == OutboxState::sent);
  CHECK(one.url == "https://tracker/1");
  CHECK(one.attempts == 1);
  CHECK(tracker.issues.at(0).labels == std::vector<std::string>{"nightjar"});
}

TEST_CASE_METHOD(SenderFixture, "An issue is filed once under every failure of every call") {
  const Fault all[] = {Fault::none, Fault::transient_before, Fault::cut_after, Fault::throws};
  for (const Fault first : all) {
    for (const Fault second : all) {
      for (const Fault third : all) {
        tracker = {};
        tracker.faults = {first, second, third};
        OutboxMessage one = message(OutboxKind::open_issue, "regression:1");
        CHECK(deliver(one).state == OutboxState::sent);
        CHECK(tracker.issues.size() == 1);
        CHECK(one.url == "https://tracker/1");
      }
    }
  }
}

TEST_CASE_METHOD(SenderFixture,
                 "A comment is posted and an issue closed once under every failure") {
  const Fault all[] = {Fault::none, Fault::transient_before, Fault::cut_after, Fault::throws};
  const OutboxKind kind = GENERATE(OutboxKind::comment, OutboxKind::close_issue);
  for (const Fault first : all) {
    for (const Fault second : all) {
      for (const Fault third : all) {
        tracker = {};
        tracker.issues.push_back({"title", "body", {}, {}, true});
        tracker.faults = {first, second, third};
        OutboxMessage one = message(kind, "night:1");
        CHECK(deliver(one, 1).state == OutboxState::sent);
        CHECK(tracker.issues[0].comments.size() == 1);
        CHECK(tracker.issues[0].open == (kind == OutboxKind::comment));
      }
    }
  }
}

TEST_CASE_METHOD(SenderFixture, "A comment says where it is and nothing of its issue") {
  tracker.issues.push_back({});
  const Sent sent = sender.send(message(OutboxKind::comment, "night:1"), 1);
  CHECK(sent.url == "https://tracker/1#1");
  CHECK_FALSE(sent.issue);
}

TEST_CASE_METHOD(SenderFixture, "A crash between posting and writing the row posts nothing again") {
  OutboxMessage one = message(OutboxKind::open_issue, "regression:1");
  sender.send(one, std::nullopt);  // posted, and the row was never written
  const Sent again = sender.send(one, std::nullopt);
  CHECK(again.state == OutboxState::sent);
  CHECK(again.found_earlier);
  CHECK(again.issue->number == 1);
  CHECK(tracker.issues.size() == 1);
}

TEST_CASE_METHOD(SenderFixture,
                 "What may have been posted is looked for when the tracker lists it") {
  const OutboxKind kind = GENERATE(OutboxKind::open_issue, OutboxKind::comment);
  tracker.at_once = GENERATE(false, true);
  tracker.issues.push_back({"title", "body", {}, {}, true});
  tracker.faults = {Fault::none, Fault::cut_after, Fault::transient_before};
  CHECK(*sender.send(message(kind, "night:1"), 1).not_before ==
        clock.now() + (tracker.at_once ? backoff(0) : lists_lag));

  // This process ends, and no answer is stored.
  auto db = storage::Database::open_writer(":memory:");
  const auto due = [&] { return next_due(db, clock.now()).has_value(); };
  storage::write(db, [&](storage::Transaction& transaction) {
    storage::add_message(transaction, message(OutboxKind::open_issue, "regression:1"));
    note_attempt(transaction, next_due(db, clock.now())->message, sender, clock.now());
  });
  CHECK(due() == tracker.at_once);
  clock.advance(lists_lag);
  CHECK(due() == tracker.at_once);
  clock.advance(lists_lag);
  CHECK(due());
}

TEST_CASE_METHOD(SenderFixture, "What cannot be looked up is sent again at once") {
  const OutboxKind kind = GENERATE(OutboxKind::chat, OutboxKind::verdict);
  CHECK(sender.shows_up_within(message(kind, "chat:1")) == 0s);
}

TEST_CASE_METHOD(SenderFixture, "What an answer does not say is looked up at once") {
  const OutboxKind kind = GENERATE(OutboxKind::open_issue, OutboxKind::comment);
  tracker.issues.push_back({"title", "body", {}, {}, true});
  tracker.faults = {Fault::none, Fault::cut_after};
  const Sent sent = sender.send(message(kind, "night:1"), 1);
  CHECK(sent.state == OutboxState::sent);
  CHECK(sent.found_earlier);
}

TEST_CASE_METHOD(SenderFixture,
                 "An issue or a comment that a stranger marked is not taken for ours") {
  OutboxMessage issue = message(OutboxKind::open_issue, "regression:1"),
                comment = message(OutboxKind::comment, "night:1");
  tracker.issues.push_back(
      {"a stranger's", marker_of(issue.key), {}, {marker_of(comment.key)}, true});
  OutboxSender own(tracker, {}, clock, "secret");
  CHECK(own.send(issue, std::nullopt).issue->number == 2);
  CHECK_FALSE(own.send(comment, 1).found_earlier);
  CHECK(tracker.issues[0].comments.size() == 2);
  // After a crash it still knows what it has posted.
  OutboxSender again(tracker, {}, clock, "secret");
  CHECK(again.send(issue, std::nullopt).found_earlier);
  CHECK(again.send(comment, 1).found_earlier);
}

TEST_CASE_METHOD(SenderFixture,
                 "A body without its marker gets it, else it could be posted twice") {
  OutboxMessage one = message(OutboxKind::open_issue, "regression:1");
  one.body = "no marker";
  deliver(one);
  CHECK(tracker.issues[0].body.find(marker_of("regression:1")) != std::string::npos);
}

TEST_CASE_METHOD(SenderFixture, "What will not go through by itself is given up at once") {
  OutboxMessage one = message(OutboxKind::open_issue, "regression:1");
  tracker.faults = {Fault::none, Fault::permanent};
  const Sent sent = deliver(one);
  CHECK(sent.state == OutboxState::failed);
  CHECK(one.error == "422");
  CHECK(one.attempts == 1);
  CHECK_FALSE(one.not_before);
}

TEST_CASE_METHOD(SenderFixture,
                 "The tracker's own time is kept, else the wait doubles up to an hour") {
  OutboxMessage one = message(OutboxKind::comment, "night:1");
  tracker.issues.push_back({});
  tracker.retry_after = 90s;
  tracker.faults = {Fault::transient_before};
  CHECK(*sender.send(one, 1).not_before == clock.now() + 90s);
  tracker.retry_after.reset();
  tracker.faults = {Fault::transient_before};
  CHECK(*sender.send(one, 1).not_before == clock.now() + 15s);
  one.attempts = 3;
  tracker.faults = {Fault::transient_before};
  CHECK(*sender.send(one, 1).not_before == clock.now() + 120s);
  CHECK(backoff(40) == 3600s);
}

TEST_CASE_METHOD(SenderFixture, "A comment waits for its issue without asking the tracker") {
  const Sent sent = sender.send(message(OutboxKind::comment, "night:1"), std::nullopt);
  CHECK(sent.state == OutboxState::pending);
  CHECK(sent.error.find("not filed yet") != std::string::npos);
  CHECK(tracker.calls.empty());
}

TEST_CASE_METHOD(SenderFixture, "An issue may be closed without a word") {
  tracker.issues.push_back({});
  OutboxMessage one = message(OutboxKind::close_issue, "recovered:1");
  one.body.clear();
  CHECK(deliver(one, 1).state == OutboxState::sent);
  CHECK(tracker.calls == std::vector<std::string>{"close"});
}
