#include "storage/digests.hpp"

#include "storage/mark_rows.hpp"
#include "storage/outbox.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {
namespace {

// A message that was queued in the same transaction.
OutboxId queued(Transaction& transaction, const OutboxMessage& message) {
  add_message(transaction, message);
  Statement find(transaction, "SELECT id FROM outbox WHERE key = ?");
  find.bind(message.key).step();
  return find.next<OutboxId>();
}

}  // namespace

void add_digest(Transaction& transaction, const Period& period,
                const std::optional<OutboxMessage>& message, Time decided_at) {
  std::optional<OutboxId> id;
  if (message) id = queued(transaction, *message);
  Statement(transaction,
            "INSERT INTO digest (from_us, until_us, message, decided_at_us) VALUES (?, ?, ?, ?)")
      .bind(period.from, period.until, id, decided_at)
      .run();
}

bool has_digest(const Database& db, Time until) {
  return Statement(db, "SELECT 1 FROM digest WHERE until_us = ?").bind(until).step();
}

std::optional<Time> last_digest_before(const Database& db, Time until) {
  Statement find(db, "SELECT max(until_us) FROM digest WHERE until_us < ?");
  find.bind(until).step();
  return find.next<std::optional<Time>>();
}

std::optional<Time> first_night_began(const Database& db) {
  Statement find(db, "SELECT started_at_us FROM night WHERE id = (SELECT min(id) FROM night)");
  return read_one(find, [](Statement& row) { return row.next<Time>(); });
}

void add_fix_report(Transaction& transaction, BuildId build, const OutboxMessage& message) {
  const OutboxId id = queued(transaction, message);
  Statement(transaction, "INSERT INTO fix_report (build, message) VALUES (?, ?)")
      .bind(build, id)
      .run();
}

std::map<BuildId, std::vector<Improvement>> untold_fixes(const Database& db, Time since,
                                                         int least) {
  Statement find(
      db,
      "WITH untold AS (SELECT improvement.* FROM improvement "
      "JOIN night ON night.id = improvement.night "
      "WHERE at_us >= ? AND night.state = 'done' AND night.trigger <> 'imported' "
      "AND NOT EXISTS (SELECT 1 FROM fix_report WHERE fix_report.build = improvement.build)) "
      "SELECT " IMPROVEMENT_COLUMNS
      " FROM untold WHERE build IN "
      "(SELECT build FROM untold JOIN series ON series.id = untold.series "
      "JOIN workload ON workload.id = series.workload "
      "GROUP BY build HAVING count(DISTINCT workload.name) >= ?) ORDER BY id");
  std::map<BuildId, std::vector<Improvement>> fixes;
  for (Improvement& one : read_all(find.bind(since, least), read_improvement))
    fixes[one.build].push_back(one);
  return fixes;
}

std::optional<BuildId> measured_build(const Database& db, std::string_view version) {
  Statement find(db,
                 "SELECT build.id FROM build JOIN night ON night.build = build.id "
                 "WHERE version = ? AND night.state = 'done' ORDER BY build.id DESC LIMIT 1");
  return read_one(find.bind(version), [](Statement& row) { return row.next<BuildId>(); });
}

std::optional<BuildId> newest_measured(const Database& db, std::string_view variant, Time before) {
  Statement find(db,
                 "SELECT build FROM night WHERE state = 'done' AND trigger <> 'imported' "
                 "AND started_at_us < ? AND (SELECT variant FROM build WHERE id = night.build) = ? "
                 "ORDER BY id DESC LIMIT 1");
  return read_one(find.bind(before, variant), [](Statement& row) { return row.next<BuildId>(); });
}

}  // namespace nightjar::storage
