// Messages that must reach the issue tracker once: written with the state they report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

NIGHTJAR_ENUM(OutboxKind, open_issue, comment, close_issue);
NIGHTJAR_ENUM(OutboxState, pending, sent, failed);

// `key` is unique and hidden in what is posted, so that the sender can find it again after a crash.
struct OutboxMessage {
  OutboxId id;
  std::string key;
  std::optional<RegressionId> regression;  // nullopt: an issue that belongs to none
  OutboxKind kind = OutboxKind::open_issue;
  std::string title;  // open_issue only
  std::string body;   // Markdown; holds the key in an HTML comment
  OutboxState state = OutboxState::pending;
  int attempts = 0;
  std::optional<Time> not_before;
  std::string error;  // the last one
  std::string url;    // of what was posted
  Time created_at{};
  std::vector<std::string> commands = {};  // open_issue: that measure it again, block by block
};

}  // namespace nightjar
