// Was the machine itself when it measured? A session whose control is off, whose CPU was stolen, or
// whose GPU was throttled, is void: it is measured again, never averaged in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/job.hpp"

namespace nightjar::service {

// What a power cap did to a session. A GPU at its power limit is itself, so the cap alone makes
// nothing void: only what was slower than the same builds in other sessions.
struct PowerCap {
  // The session's runs over those of the same builds and workloads elsewhere, as times; nullopt:
  // there are no others yet.
  std::optional<double> slowdown;
  int void_nights = 0;  // before this one, in a row
};

// The sessions of a machine class that a later one is held to: the usable ones of `checks`, which
// are in their order. Three void ones in a row that agree are no accident: the machine has another
// level now, and its history begins with them. Pure.
std::vector<SessionCheck> usable_history(const std::vector<SessionCheck>& checks);

// `history`: usable sessions before it on the same machine class. Pure.
SessionCheck check_session(const JobSpec& spec, const SessionResult& result,
                           const std::vector<SessionCheck>& history, const PowerCap& cap = {});

// What became of a session that was asked for, as far as it is known.
struct SessionOutcome {
  enum class State { pending, usable, failed };
  State state = State::pending;
  Job job;             // usable: the job whose session counts
  std::string reason;  // failed: why
  int repeat = 0;      // how often it was void before
};
SessionOutcome outcome_of(const storage::Database& db, const Job& asked);
// The outcomes of several sessions.
struct SessionOutcomes {
  bool pending = false;  // one is under way
  std::vector<Job> usable;
  std::string failure;  // of the last one that failed
};
SessionOutcomes outcomes_of(const storage::Database& db, const std::vector<Job>& asked);

// A session that is stored and that nobody has checked yet, with what its check depends on.
struct Unchecked {
  Job asked, job;  // `job` repeats `asked` for the `repeat`th time, or is the same
  int repeat = 0;
  SessionResult result;
  std::vector<SessionCheck> history;
  PowerCap cap{};                        // read only where there was one
  std::vector<EarlierControl> nights{};  // of earlier screenings; read for a screening alone
};
// nullopt: it waits for a session that was asked for before it, since what the machine's controls
// say of a session depends on those.
std::optional<Unchecked> load_unchecked(const storage::Database& db, JobId job);

// `again`: a void session is measured again, at most twice.
struct Checked {
  SessionCheck check;
  std::optional<Job> again;
};
Checked check(const Unchecked& unchecked);

// Stores the check of each session that is over and unchecked, and queues a void one again, in one
// transaction each. The first step of a round, so that no other reads outcomes that nobody checked.
bool check_sessions(EngineContext& context);

// Queues a job once a key, its workloads interned; returns the stored one.
Job queue_job(storage::Transaction& transaction, Job job, Time now);

}  // namespace nightjar::service
