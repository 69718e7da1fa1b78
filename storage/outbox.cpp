#include "storage/outbox.hpp"

#include "storage/paging.hpp"
#include "storage/text_map.hpp"

namespace nightjar::storage {
namespace {

// The fingerprint in a verdict's key, which is WORD:FINGERPRINT and maybe more.
#define FINGERPRINT_OF(table) "substr(" table ".key, instr(" table ".key, ':') + 1, 32)"

#define MESSAGE_SELECT                                                                          \
  "SELECT id, key, regression, kind, title, body, state, attempts, not_before_us, error, url, " \
  "created_at_us, commands FROM outbox"

OutboxMessage read_message(Statement& row) {
  return {row.next<OutboxId>(),
          row.next<std::string>(),
          row.next<std::optional<RegressionId>>(),
          row.next<OutboxKind>(),
          row.next<std::string>(),
          row.next<std::string>(),
          row.next<OutboxState>(),
          row.next<int>(),
          row.next<std::optional<Time>>(),
          row.next<std::string>(),
          row.next<std::string>(),
          row.next<Time>(),
          list_from_text(row.next<std::string>())};
}

}  // namespace

void add_message(Transaction& transaction, const OutboxMessage& message) {
  const std::string commands = to_text(message.commands);
  Statement(transaction,
            "INSERT INTO outbox (key, regression, kind, title, body, state, attempts, "
            "not_before_us, error, url, created_at_us, commands) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING")
      .bind(message.key, message.regression, message.kind, message.title, message.body,
            message.state, message.attempts, message.not_before, message.error, message.url,
            message.created_at, commands)
      .run();
}

void update_message(Transaction& transaction, const OutboxMessage& message) {
  Statement(transaction,
            "UPDATE outbox SET title = ?, body = ?, state = ?, attempts = ?, not_before_us = ?, "
            "error = ?, url = ? WHERE id = ?")
      .bind(message.title, message.body, message.state, message.attempts, message.not_before,
            message.error, message.url, message.id)
      .run();
}

std::vector<OutboxMessage> pending_messages(const Database& db, Time now) {
  Statement find(db, MESSAGE_SELECT
                 " WHERE state = 'pending' "
                 "AND (not_before_us IS NULL OR not_before_us <= ?) "
                 "AND NOT (kind = 'verdict' AND EXISTS(SELECT 1 FROM outbox AS earlier "
                 "WHERE earlier.state = 'pending' AND earlier.kind = 'verdict' "
                 "AND earlier.id < outbox.id AND " FINGERPRINT_OF("earlier") " = "
                 FINGERPRINT_OF("outbox") ")) "
                 "ORDER BY id");
  return read_all(find.bind(now), read_message);
}

bool is_overtaken(const Database& db, const OutboxMessage& message) {
  if (message.kind != OutboxKind::verdict) return false;
  Statement find(
      db,
      "SELECT 1 FROM outbox AS later, outbox WHERE outbox.id = ? AND later.id > outbox.id "
      "AND later.kind = 'verdict' AND " FINGERPRINT_OF("later") " = " FINGERPRINT_OF(
          "outbox") " LIMIT 1");
  return find.bind(message.id).step();
}

std::vector<OutboxMessage> refused_messages(const Database& db, Time since) {
  Statement find(db,
                 MESSAGE_SELECT " WHERE state = 'failed' AND created_at_us >= ? ORDER BY id DESC");
  return read_all(find.bind(since), read_message);
}

std::optional<OutboxMessage> find_message(const Database& db, OutboxId id) {
  Statement find(db, MESSAGE_SELECT " WHERE id = ?");
  return read_one(find.bind(id), read_message);
}

std::map<OutboxState, int> count_messages(const Database& db) {
  std::map<OutboxState, int> counts;
  Statement count(db, "SELECT state, count(*) FROM outbox GROUP BY state");
  while (count.step()) {
    const auto state = count.next<OutboxState>();
    counts[state] = count.next<int>();
  }
  return counts;
}

std::vector<OutboxMessage> messages_of(const Database& db, RegressionId regression) {
  Statement find(db, MESSAGE_SELECT " WHERE regression = ? ORDER BY id");
  return read_all(find.bind(regression), read_message);
}

Page<OutboxMessage> list_messages(const Database& db, const PageRequest& page,
                                  std::optional<OutboxState> state) {
  return Query(MESSAGE_SELECT)
      .where("state = ?", state)
      .page<OutboxMessage>(db, page, read_message);
}

}  // namespace nightjar::storage
