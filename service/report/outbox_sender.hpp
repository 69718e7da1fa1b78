// Delivers one outbox message. To the issue tracker at most once in effect: it looks for the
// message's marker before it posts, and again if the tracker did not say what became of a post. A
// chat and the export cannot be asked, so they get a message again only if no answer said that it
// was taken. Knows no database: the engine reads pending rows, calls send() on a worker thread and
// writes the row.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "service/report/chat_config.hpp"
#include "service/report/export_config.hpp"
#include "service/report/tracker.hpp"
#include "storage/model/outbox.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

// What became of a message. pending: to be tried again at `not_before`, `error` says why. failed:
// it will not go through by itself, so a person must look into it.
struct Sent {
  OutboxState state = OutboxState::pending;
  std::optional<Issue> issue;  // as it is now, of a sent open_issue or close_issue
  std::string url;             // what was posted; empty for a comment that was found there
  std::optional<Time> not_before;
  std::string error;
  bool found_earlier = false;  // an earlier attempt had got through, nothing was posted now

  // Copies state, url, error, not_before into `message` and counts the attempt.
  void apply_to(OutboxMessage& message) const;
};

// A tracker lists what was posted after this time at the latest, unless it does so at once.
inline constexpr std::chrono::seconds lists_lag{60};

// Wait before attempt `attempts` + 1: 15 s doubled each time, an hour at most.
std::chrono::seconds backoff(int attempts);

class OutboxSender {
 public:
  // Keeps references to `tracker` and `clock`. `secret`: nobody else can write a marker that is
  // made with it, so only what this service has posted is taken for its own; empty: markers are
  // made of keys alone, which can be computed. `chat` and `exported`: who get messages of the kinds
  // chat and verdict.
  OutboxSender(IssueTracker& tracker, std::vector<std::string> labels, const Clock& clock,
               std::string secret = "", ChatConfig chat = {}, ExportConfig exported = {});

  // Blocks for as long as the tracker takes; throws nothing but std::bad_alloc. `issue_number`: the
  // issue of the message's regression; without it a comment stays pending. A close_issue posts its
  // body (if it has any) as a comment and then closes.
  Sent send(const OutboxMessage& message, std::optional<std::int64_t> issue_number);

  // The longest time from the start of send() until what it posted is listed, even if this process
  // ends meanwhile: 2 minutes at GitHub, 0 where it is listed at once or cannot be looked up.
  std::chrono::seconds shows_up_within(const OutboxMessage& message) const;

 private:
  Sent open(const OutboxMessage& message);
  Sent comment(const OutboxMessage& message, std::int64_t issue);
  Sent close(const OutboxMessage& message, std::int64_t issue);
  Sent told(const OutboxMessage& message, const Outcome<std::monostate>& outcome) const;
  Sent later(const OutboxMessage& message, const Transient& failure) const;
  Sent unsure(const OutboxMessage& message, const Transient& failure) const;
  std::string marker(const OutboxMessage& message) const;

  IssueTracker& tracker_;
  std::vector<std::string> labels_;
  const Clock& clock_;
  const std::string secret_;
  const ChatConfig chat_;
  const ExportConfig exported_;
};

}  // namespace nightjar::service
