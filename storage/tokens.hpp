// Tokens that runners got for themselves, and the one-time tokens by which they enrol. Only hashes
// are stored. Used by the REST interface.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

using EnrolmentId = Id<struct EnrolmentTag>;
using RunnerTokenId = Id<struct RunnerTokenTag>;

struct Enrolment {
  EnrolmentId id;
  Sha256 sha256;
  std::string runner;  // the only name that it may be used for; empty: any free one
  std::string actor;   // who made it, "token:<name>"
  Time made_at{};
  Time ends_at{};
  std::optional<Time> used_at, revoked_at;
  // The only machine class of its runner; 0: that with which it registers first.
  MachineId machine = {};
  bool builder = false;  // its runner may make wheels
};

NIGHTJAR_ENUM(EnrolmentState, open, used, expired, revoked);
EnrolmentState state_of(const Enrolment& enrolment, Time now);

struct RunnerToken {
  RunnerTokenId id;
  Sha256 sha256;
  std::string runner;  // the name that it is bound to
  EnrolmentId enrolment;
  Time made_at{};
  std::optional<Time> used_at;  // for the first time
  std::optional<Time> ends_at;  // a job's from the beginning; else set once its successor was used
  std::optional<Time> revoked_at;
  bool builder = false;  // as its enrolment says
};

// unused: stored, and the token before it is valid until this one is used. ending: replaced, or a
// job's, and valid until `ends_at`.
NIGHTJAR_ENUM(RunnerTokenState, unused, valid, ending, ended, revoked);
RunnerTokenState state_of(const RunnerToken& token, Time now);

Enrolment add_enrolment(Transaction& transaction, const Enrolment& enrolment);
std::optional<Enrolment> find_enrolment(const Database& db, EnrolmentId id);
std::optional<Enrolment> find_enrolment(const Database& db, const Sha256& sha256);
void use_enrolment(Transaction& transaction, EnrolmentId id, Time at);
// Binds the runner of a used one to its machine class.
void bind_enrolment(Transaction& transaction, EnrolmentId id, MachineId machine);
// False if it was used or revoked before.
bool revoke_enrolment(Transaction& transaction, EnrolmentId id, Time at);
Page<Enrolment> list_enrolments(const Database& db, const PageRequest& page);

RunnerToken add_runner_token(Transaction& transaction, const RunnerToken& token);
std::optional<RunnerToken> find_runner_token(const Database& db, RunnerTokenId id);
std::optional<RunnerToken> find_runner_token(const Database& db, const Sha256& sha256);
// Those that runners got by this enrolment after `since`, whatever became of them.
int count_runner_tokens(const Database& db, EnrolmentId enrolment, Time since);
// Returns the tokens of all runners that are neither revoked nor ended, oldest first.
std::vector<RunnerToken> accepted_runner_tokens(const Database& db, Time now);
// The same for one runner's name.
std::vector<RunnerToken> accepted_runner_tokens(const Database& db, std::string_view runner,
                                                Time now);
// The first use of a token: those of the same runner that came before it end after `grace`. False
// if it was used before; then nothing changes.
bool note_first_use(Transaction& transaction, const RunnerToken& token, Time at,
                    std::chrono::seconds grace);
// Revokes the successors of a token that were never used, because its runner asks for another.
void revoke_unused_successors(Transaction& transaction, const RunnerToken& token, Time at);
// Revokes every token of the name; returns how many.
int revoke_runner_tokens(Transaction& transaction, std::string_view runner, Time at);
Page<RunnerToken> list_runner_tokens(const Database& db, const PageRequest& page);

}  // namespace nightjar::storage
