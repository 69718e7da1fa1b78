// Messages to the issue tracker and the chat, queued in the transaction that stores the state they
// report.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/outbox.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// Queues a message unless its key exists.
void add_message(Transaction& transaction, const OutboxMessage& message);
void update_message(Transaction& transaction, const OutboxMessage& message);
// What is due, the oldest first. Of the verdicts with one fingerprint only the oldest: one that was
// taken back must not arrive after that.
std::vector<OutboxMessage> pending_messages(const Database& db, Time now);
// Whether it is a verdict, and one with its fingerprint was queued later.
bool is_overtaken(const Database& db, const OutboxMessage& message);
// What was refused since `since` for good, the newest first.
std::vector<OutboxMessage> refused_messages(const Database& db, Time since);
std::optional<OutboxMessage> find_message(const Database& db, OutboxId id);
std::map<OutboxState, int> count_messages(const Database& db);
std::vector<OutboxMessage> messages_of(const Database& db, RegressionId regression);
Page<OutboxMessage> list_messages(const Database& db, const PageRequest& page,
                                  std::optional<OutboxState> state = {});

}  // namespace nightjar::storage
