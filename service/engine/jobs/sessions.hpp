// Was the machine itself when it measured? A session whose control is off, whose CPU was stolen, or
// whose GPU was throttled, is void: it is measured again, never averaged in.
#pragma once

#include <string>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/job.hpp"

namespace nightjar::service {

// `history`: control locations of earlier sessions on the same machine class. Pure.
SessionCheck check_session(const JobSpec& spec, const SessionResult& result,
                           const std::vector<double>& history);

struct Settled {
  enum class State { pending, usable, failed };
  State state = State::pending;
  Job job;             // usable: the job whose session counts
  std::string reason;  // failed: why
  int repeat = 0;      // how often it was void before
};
// What became of a session that was asked for: a void one is queued again, at most twice.
Settled settle(EngineContext& context, const Job& asked);
// The same as far as it is known, for somebody who only looks.
Settled standing(storage::Database& db, const Job& asked);

// Queues a job once a key, its workloads interned; returns the stored one.
Job queue_job(EngineContext& context, Job job);

}  // namespace nightjar::service
