#include "storage/tokens.hpp"

#include "storage/paging.hpp"

namespace nightjar::storage {
namespace {

#define ENROLMENT_SELECT                                                                  \
  "SELECT id, sha256, runner, actor, made_at_us, ends_at_us, used_at_us, revoked_at_us, " \
  "machine, builder FROM enrolment"

Enrolment read_enrolment(Statement& row) {
  return {row.next<EnrolmentId>(),
          row.next<Sha256>(),
          row.next<std::string>(),
          row.next<std::string>(),
          row.next<Time>(),
          row.next<Time>(),
          row.next<std::optional<Time>>(),
          row.next<std::optional<Time>>(),
          row.next<MachineId>(),
          row.next<bool>()};
}

#define TOKEN_SELECT                                                                          \
  "SELECT id, sha256, runner, enrolment, made_at_us, used_at_us, ends_at_us, revoked_at_us, " \
  "(SELECT builder FROM enrolment WHERE id = runner_token.enrolment) FROM runner_token"

RunnerToken read_token(Statement& row) {
  return {row.next<RunnerTokenId>(),
          row.next<Sha256>(),
          row.next<std::string>(),
          row.next<EnrolmentId>(),
          row.next<Time>(),
          row.next<std::optional<Time>>(),
          row.next<std::optional<Time>>(),
          row.next<std::optional<Time>>(),
          row.next<bool>()};
}

}  // namespace

EnrolmentState state_of(const Enrolment& enrolment, Time now) {
  if (enrolment.used_at) return EnrolmentState::used;
  if (enrolment.revoked_at) return EnrolmentState::revoked;
  return enrolment.ends_at <= now ? EnrolmentState::expired : EnrolmentState::open;
}

RunnerTokenState state_of(const RunnerToken& token, Time now) {
  if (token.revoked_at) return RunnerTokenState::revoked;
  if (token.ends_at)
    return *token.ends_at <= now ? RunnerTokenState::ended : RunnerTokenState::ending;
  return token.used_at ? RunnerTokenState::valid : RunnerTokenState::unused;
}

Enrolment add_enrolment(Transaction& transaction, const Enrolment& enrolment) {
  Statement insert(transaction,
                   "INSERT INTO enrolment (sha256, runner, actor, made_at_us, ends_at_us, machine, "
                   "builder) VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert
      .bind(enrolment.sha256, enrolment.runner, enrolment.actor, enrolment.made_at,
            enrolment.ends_at, enrolment.machine, enrolment.builder)
      .run();
  Enrolment stored = enrolment;
  stored.id = EnrolmentId{insert.inserted_id()};
  return stored;
}

std::optional<Enrolment> find_enrolment(const Database& db, EnrolmentId id) {
  Statement find(db, ENROLMENT_SELECT " WHERE id = ?");
  return read_one(find.bind(id), read_enrolment);
}

std::optional<Enrolment> find_enrolment(const Database& db, const Sha256& sha256) {
  Statement find(db, ENROLMENT_SELECT " WHERE sha256 = ?");
  return read_one(find.bind(sha256), read_enrolment);
}

void use_enrolment(Transaction& transaction, EnrolmentId id, Time at) {
  Statement(transaction, "UPDATE enrolment SET used_at_us = ? WHERE id = ?").bind(at, id).run();
}

void bind_enrolment(Transaction& transaction, EnrolmentId id, MachineId machine) {
  Statement(transaction, "UPDATE enrolment SET machine = ? WHERE id = ?").bind(machine, id).run();
}

bool revoke_enrolment(Transaction& transaction, EnrolmentId id, Time at) {
  Statement update(transaction,
                   "UPDATE enrolment SET revoked_at_us = ? "
                   "WHERE id = ? AND used_at_us IS NULL AND revoked_at_us IS NULL");
  update.bind(at, id).run();
  return update.changes() == 1;
}

Page<Enrolment> list_enrolments(const Database& db, const PageRequest& page) {
  return Query(ENROLMENT_SELECT).page<Enrolment>(db, page, read_enrolment);
}

RunnerToken add_runner_token(Transaction& transaction, const RunnerToken& token) {
  Statement insert(transaction,
                   "INSERT INTO runner_token (sha256, runner, enrolment, made_at_us, ends_at_us) "
                   "VALUES (?, ?, ?, ?, ?)");
  insert.bind(token.sha256, token.runner, token.enrolment, token.made_at, token.ends_at).run();
  RunnerToken stored = token;
  stored.id = RunnerTokenId{insert.inserted_id()};
  return stored;
}

std::optional<RunnerToken> find_runner_token(const Database& db, RunnerTokenId id) {
  Statement find(db, TOKEN_SELECT " WHERE id = ?");
  return read_one(find.bind(id), read_token);
}

std::optional<RunnerToken> find_runner_token(const Database& db, const Sha256& sha256) {
  Statement find(db, TOKEN_SELECT " WHERE sha256 = ?");
  return read_one(find.bind(sha256), read_token);
}

int count_runner_tokens(const Database& db, EnrolmentId enrolment, Time since) {
  Statement count(db, "SELECT count(*) FROM runner_token WHERE enrolment = ? AND made_at_us > ?");
  return read_one(count.bind(enrolment, since), [](Statement& row) { return row.next<int>(); })
      .value();
}

std::vector<RunnerToken> accepted_runner_tokens(const Database& db, Time now) {
  Statement find(db, TOKEN_SELECT
                 " INDEXED BY runner_token_by_runner WHERE revoked_at_us IS NULL "
                 "AND (ends_at_us IS NULL OR ends_at_us > ?) ORDER BY id");
  return read_all(find.bind(now), read_token);
}

std::vector<RunnerToken> accepted_runner_tokens(const Database& db, std::string_view runner,
                                                Time now) {
  Statement find(db, TOKEN_SELECT
                 " WHERE runner = ? AND revoked_at_us IS NULL "
                 "AND (ends_at_us IS NULL OR ends_at_us > ?) ORDER BY id");
  return read_all(find.bind(runner, now), read_token);
}

bool note_first_use(Transaction& transaction, const RunnerToken& token, Time at,
                    std::chrono::seconds grace) {
  Statement use(transaction,
                "UPDATE runner_token SET used_at_us = ? WHERE id = ? AND used_at_us IS NULL");
  use.bind(at, token.id).run();
  if (use.changes() == 0) return false;
  Statement(transaction,
            "UPDATE runner_token SET ends_at_us = ? WHERE runner = ? AND id < ? "
            "AND revoked_at_us IS NULL AND ends_at_us IS NULL")
      .bind(at + grace, token.runner, token.id)
      .run();
  return true;
}

void revoke_unused_successors(Transaction& transaction, const RunnerToken& token, Time at) {
  Statement(transaction,
            "UPDATE runner_token SET revoked_at_us = ? "
            "WHERE runner = ? AND id > ? AND revoked_at_us IS NULL AND used_at_us IS NULL")
      .bind(at, token.runner, token.id)
      .run();
}

int revoke_runner_tokens(Transaction& transaction, std::string_view runner, Time at) {
  Statement update(
      transaction,
      "UPDATE runner_token SET revoked_at_us = ? WHERE runner = ? AND revoked_at_us IS NULL");
  update.bind(at, runner).run();
  return update.changes();
}

Page<RunnerToken> list_runner_tokens(const Database& db, const PageRequest& page) {
  return Query(TOKEN_SELECT).page<RunnerToken>(db, page, read_token);
}

}  // namespace nightjar::storage
