// The rows around the sender: what is to be sent next, and what became of it. The sender itself
// knows no database. Used by whoever runs one.
#pragma once

#include <cstdint>
#include <optional>

#include "service/report/outbox_sender.hpp"
#include "storage/database.hpp"
#include "storage/model/outbox.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

struct DueMessage {
  OutboxMessage message;
  std::optional<std::int64_t> issue;  // of the message's regression; nullopt: it has none yet
};
// The oldest message that may be sent now; nullopt: none.
std::optional<DueMessage> next_due(const storage::Database& db, Time now);

// Notes that `sender` is about to send `message`. If this process ends meanwhile, the next one
// tries again when what this one posted is listed.
void note_attempt(storage::Transaction& transaction, OutboxMessage message,
                  const OutboxSender& sender, Time now);

// Stores what became of `message`, and the issue's number and URL with its regression. Returns the
// message as it is stored now.
OutboxMessage store(storage::Transaction& transaction, OutboxMessage message, const Sent& sent);

}  // namespace nightjar::service
