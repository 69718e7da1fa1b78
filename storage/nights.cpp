#include "storage/nights.hpp"

#include "storage/filtered.hpp"
#include "storage/paging.hpp"
#include "storage/session_counts.hpp"

namespace nightjar::storage {
namespace {

#define NIGHT_COLUMNS \
  "id, trigger, state, build, reason, started_at_us, finished_at_us, cancelled_by"

Night read_night(Statement& row) {
  return {row.next<NightId>(),
          row.next<NightTrigger>(),
          row.next<NightState>(),
          row.next<std::optional<BuildId>>(),
          row.next<std::string>(),
          row.next<Time>(),
          row.next<std::optional<Time>>(),
          row.next<std::string>()};
}

AuditEntry read_audit(Statement& row) {
  return {row.next<std::int64_t>(), row.next<Time>(), row.next<std::string>(),
          row.next<std::string>(), row.next<std::string>()};
}

}  // namespace

Night add_night(Transaction& transaction, const Night& night) {
  Statement insert(transaction,
                   "INSERT INTO night (trigger, state, build, reason, started_at_us, "
                   "finished_at_us) VALUES (?, ?, ?, ?, ?, ?)");
  insert
      .bind(night.trigger, night.state, night.build, night.reason, night.started_at,
            night.finished_at)
      .run();
  Night stored = night;
  stored.id = NightId{insert.inserted_id()};
  return stored;
}

void update_night(Transaction& transaction, const Night& night) {
  Statement(transaction,
            "UPDATE night SET trigger = ?, state = ?, build = ?, reason = ?, started_at_us = ?, "
            "finished_at_us = ?, cancelled_by = ? WHERE id = ?")
      .bind(night.trigger, night.state, night.build, night.reason, night.started_at,
            night.finished_at, night.cancelled_by, night.id)
      .run();
}

std::optional<Night> find_night(const Database& db, NightId id) {
  Statement find(db, "SELECT " NIGHT_COLUMNS " FROM night WHERE id = ?");
  return read_one(find.bind(id), read_night);
}

std::optional<Night> find_night_of_build(const Database& db, BuildId build) {
  Statement find(db,
                 "SELECT " NIGHT_COLUMNS " FROM night WHERE build = ? ORDER BY id DESC LIMIT 1");
  return read_one(find.bind(build), read_night);
}

std::vector<Night> open_nights(const Database& db) {
  Statement find(db, "SELECT " NIGHT_COLUMNS
                     " FROM night WHERE state IN ('waiting', 'measuring', 'judging') ORDER BY id");
  return read_all(find, read_night);
}

std::optional<Night> waiting_night(const Database& db, NightTrigger trigger) {
  Statement find(db, "SELECT " NIGHT_COLUMNS
                     " FROM night WHERE state = 'waiting' AND trigger = ? ORDER BY id LIMIT 1");
  return read_one(find.bind(trigger), read_night);
}

std::optional<Night> unclaimed_night(const Database& db, std::optional<BuildId> build) {
  Statement find(
      db, "SELECT " NIGHT_COLUMNS
          " FROM night WHERE state = 'measuring' AND (?1 IS NULL OR build = ?1) AND NOT EXISTS "
          "(SELECT 1 FROM job WHERE job.night = night.id AND attempt > 0) ORDER BY id LIMIT 1");
  return read_one(find.bind(build), read_night);
}

NightId newest_night(const Database& db) {
  Statement find(db, "SELECT max(id) FROM night");
  return read_one(find, [](Statement& row) { return row.next<NightId>(); }).value_or(NightId{});
}

std::optional<Night> newest_measured_night(const Database& db) {
  Statement find(db, "SELECT " NIGHT_COLUMNS
                     " FROM night WHERE trigger <> 'imported' ORDER BY id DESC LIMIT 1");
  return read_one(find, read_night);
}

std::optional<Night> last_night_on(const Database& db, MachineId machine, NightId before) {
  Statement find(db, "SELECT " NIGHT_COLUMNS
                     " FROM night WHERE id < ?1 AND state = 'done' AND trigger <> 'imported' "
                     "AND (SELECT variant FROM build WHERE build.id = night.build) = "
                     "(SELECT variant FROM night AS own JOIN build ON build.id = own.build "
                     "WHERE own.id = ?1) "
                     "AND EXISTS (SELECT 1 FROM job WHERE job.night = night.id "
                     "AND job.kind = 'screen' AND job.machine = ?2 AND job.state = 'done') "
                     "ORDER BY id DESC LIMIT 1");
  return read_one(find.bind(before, machine), read_night);
}

Page<Night> list_nights(const Database& db, const PageRequest& page) {
  return list_nights(db, {}, page);
}

Page<Night> list_nights(const Database& db, const NightFilter& filter, const PageRequest& page) {
  return Query("SELECT " NIGHT_COLUMNS " FROM night")
      .filter(db, filter)
      .page<Night>(db, page, read_night);
}

SessionCount count_sessions(const Database& db, NightId night) {
  Statement find(db,
                 "SELECT count(*), count(*) FILTER (WHERE said.usable = 0) FROM job "
                 "CROSS JOIN session_check AS said ON said.job = job.id WHERE job.night = ?");
  find.bind(night).step();
  return {find.next<int>(), find.next<int>()};
}

// Runs have the order of their positions, so that two of them tell a session's length.
SessionTime session_time(const Database& db, NightId night) {
  Statement find(
      db,
      "SELECT coalesce(machine.facts ->> 'gpu', 'none') <> 'none' AS has_gpu, "
      "sum((SELECT started_at_us + seconds * 1e6 FROM run WHERE run.job = job.id "
      "ORDER BY position DESC LIMIT 1) - (SELECT started_at_us FROM run WHERE run.job = job.id "
      "ORDER BY position LIMIT 1)) FROM job CROSS JOIN session ON session.job = job.id "
      "CROSS JOIN machine ON machine.id = job.machine WHERE job.night = ? GROUP BY has_gpu");
  SessionTime time;
  find.bind(night);
  while (find.step()) {
    const bool has_gpu = find.next<int>() == 1;
    (has_gpu ? time.with_gpu : time.without) = find.next<std::optional<double>>().value_or(0) / 1e6;
  }
  return time;
}

void add_audit(Transaction& transaction, const AuditEntry& entry) {
  Statement(transaction, "INSERT INTO audit (at_us, actor, action, subject) VALUES (?, ?, ?, ?)")
      .bind(entry.at, entry.actor, entry.action, entry.subject)
      .run();
}

Page<AuditEntry> list_audit(const Database& db, const PageRequest& page) {
  return Query("SELECT id, at_us, actor, action, subject FROM audit")
      .page<AuditEntry>(db, page, read_audit);
}

bool remember_delivery(Transaction& transaction, std::string_view delivery_id, Time at) {
  Statement insert(transaction,
                   "INSERT INTO delivery (id, at_us) VALUES (?, ?) ON CONFLICT DO NOTHING");
  insert.bind(delivery_id, at).run();
  return insert.changes() == 1;
}

std::optional<std::string> get_note(const Database& db, std::string_view name) {
  Statement find(db, "SELECT value FROM note WHERE name = ?");
  return read_one(find.bind(name), [](Statement& row) { return row.next<std::string>(); });
}

void set_note(Transaction& transaction, std::string_view name, std::string_view value) {
  Statement(transaction,
            "INSERT INTO note (name, value) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value")
      .bind(name, value)
      .run();
}

}  // namespace nightjar::storage
