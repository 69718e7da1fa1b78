// Sees to it that every queued session can be claimed by a live runner, or ends with a reason.
// Without this a night waits for ever for a machine class that a kernel update has changed.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/jobs.hpp"
#include "storage/model/machine.hpp"

namespace nightjar::service {

// Whether the runner is of the job's machine class, measures its variant and has all its workloads.
bool can_run(const Runner& runner, const storage::WaitingJob& job, const Config& config);

struct QueueFacts {
  Time now{};
  std::vector<storage::WaitingJob> waiting;
  std::vector<Runner> live;
};

// No live runner can claim the job from now on, or one can again.
struct NoteUnclaimable {
  JobId job;
};
struct NoteClaimable {
  JobId job;
};
// Its own runner stays away, and another one can claim it.
struct FreeJob {
  JobId job;
};
struct GiveUpJob {
  JobId job;
  std::string reason;
};
using QueueStep = std::variant<NoteUnclaimable, NoteClaimable, FreeJob, GiveUpJob>;

QueueFacts load_queue(const EngineView& view);
// At most one step a job. A job waits an hour for its own runner, or [queue] patience if that is
// shorter. While no runner at all is live, as on a weekend, no time counts: then one night waits
// for one.
std::vector<QueueStep> decide(const QueueFacts& facts, const Config& config);
// True if a job was freed or given up.
bool watch_queue(EngineContext& context);

}  // namespace nightjar::service
