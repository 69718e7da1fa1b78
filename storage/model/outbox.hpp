// Messages that must reach the issue tracker, the chat or the export once: written with the state
// they report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// chat: tells the chat of a finding. verdict: gives a finding to the export. All others are for the
// issue tracker.
NIGHTJAR_ENUM(OutboxKind, open_issue, comment, close_issue, chat, verdict);
NIGHTJAR_ENUM(OutboxState, pending, sent, failed);

// `key` is unique and hidden in what is posted, so that the sender can find it again after a crash.
struct OutboxMessage {
  OutboxId id;
  std::string key;
  std::optional<RegressionId> regression;  // nullopt: an issue that belongs to none
  OutboxKind kind = OutboxKind::open_issue;
  std::string title;  // open_issue, chat and verdict only
  // Markdown that holds the key in an HTML comment. chat: the finding's address, or nothing.
  // verdict: records of PyTorch's benchmark database, one a line.
  std::string body;
  OutboxState state = OutboxState::pending;
  int attempts = 0;
  std::optional<Time> not_before;
  std::string error;  // the last one
  std::string url;    // of what was posted
  Time created_at{};
  std::vector<std::string> commands = {};  // open_issue: that measure it again, block by block
};

inline bool is_for_tracker(OutboxKind kind) {
  return kind != OutboxKind::chat && kind != OutboxKind::verdict;
}

// Who gets it, as people call it.
inline const char* receiver_of(const OutboxMessage& message) {
  if (is_for_tracker(message.kind)) return "the issue tracker";
  return message.kind == OutboxKind::chat ? "the chat" : "the export";
}

}  // namespace nightjar
