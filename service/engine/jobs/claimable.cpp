#include "service/engine/jobs/claimable.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "service/engine/jobs/live_runners.hpp"
#include "storage/base/log.hpp"
#include "storage/model/variants.hpp"

namespace nightjar::service {
namespace {
using storage::WaitingJob;

constexpr std::chrono::seconds own_runner_patience = std::chrono::hours(1);

bool measures_its_variant(const Runner& runner, const WaitingJob& job, const Config& config) {
  return !job.variant || measures(runner, *job.variant, config.source.variant);
}

// The first workload that none of `runners` has.
std::optional<std::string> missing_workload(const std::vector<Runner>& runners,
                                            const WaitingJob& job) {
  for (const std::string& workload : job.workloads)
    if (std::none_of(runners.begin(), runners.end(),
                     [&](const Runner& runner) { return runner.workloads.contains(workload); }))
      return workload;
  return std::nullopt;
}

std::string reason_of(std::vector<Runner> runners, const WaitingJob& job, const Config& config) {
  const auto patience = std::chrono::duration_cast<std::chrono::minutes>(config.queue.patience);
  const std::string span = std::to_string(patience.count()) + " minutes";
  const std::string machine = "machine class " + std::to_string(job.machine.value);
  std::erase_if(runners, [&](const Runner& runner) { return runner.machine != job.machine; });
  if (runners.empty()) return "no runner of " + machine + " was live for " + span;
  std::erase_if(runners,
                [&](const Runner& runner) { return !measures_its_variant(runner, job, config); });
  if (runners.empty())
    return "no live runner of " + machine + " measured variant " + *job.variant + " for " + span;
  if (const auto missing = missing_workload(runners, job))
    return "no live runner of " + machine + " had " + *missing + " for " + span;
  return "no live runner of " + machine + " had all its workloads for " + span;
}

using RunnersOfClasses = std::map<MachineId, std::vector<const Runner*>>;

std::optional<QueueStep> step_of(const QueueFacts& facts, const RunnersOfClasses& classes,
                                 const WaitingJob& job, const Config& config) {
  const std::chrono::seconds patience = config.queue.patience;
  bool anybody = false, allowed = false;
  if (const auto found = classes.find(job.machine); found != classes.end())
    for (auto runner = found->second.begin(); runner != found->second.end() && !allowed; ++runner) {
      if (!can_run(**runner, job, config)) continue;
      anybody = true;
      allowed = !job.affinity || *job.affinity == (*runner)->id;
    }
  if (allowed || facts.live.empty())
    return job.unclaimable_since ? std::optional<QueueStep>(NoteClaimable{job.id}) : std::nullopt;
  if (!job.unclaimable_since) return NoteUnclaimable{job.id};
  const auto waited = facts.now - *job.unclaimable_since;
  if (anybody && waited >= std::min(own_runner_patience, patience)) return FreeJob{job.id};
  if (waited >= patience) return GiveUpJob{job.id, reason_of(facts.live, job, config)};
  return std::nullopt;
}

// Each returns whether it changed the queue.
bool apply(storage::Transaction& transaction, const NoteUnclaimable& step, Time now) {
  storage::note_unclaimable(transaction, step.job, now);
  return false;
}

bool apply(storage::Transaction& transaction, const NoteClaimable& step, Time) {
  storage::note_unclaimable(transaction, step.job, std::nullopt);
  return false;
}

bool apply(storage::Transaction& transaction, const FreeJob& step, Time) {
  storage::drop_affinity(transaction, step.job);
  storage::note_unclaimable(transaction, step.job, std::nullopt);
  log::warn("job freed job={} cause=\"its own runner stays away\"", step.job.value);
  return true;
}

bool apply(storage::Transaction& transaction, const GiveUpJob& step, Time) {
  log::warn("job given up job={} cause=\"{}\"", step.job.value, step.reason);
  return storage::fail_queued_job(transaction, step.job, step.reason);
}

}  // namespace

bool can_run(const Runner& runner, const WaitingJob& job, const Config& config) {
  return runner.machine == job.machine && measures_its_variant(runner, job, config) &&
         std::all_of(job.workloads.begin(), job.workloads.end(), [&](const std::string& workload) {
           return runner.workloads.contains(workload);
         });
}

QueueFacts load_queue(const EngineView& view) {
  return {view.clock.now(), storage::waiting_jobs(view.db), live_runners(view)};
}

std::vector<QueueStep> decide(const QueueFacts& facts, const Config& config) {
  RunnersOfClasses classes;
  for (const Runner& runner : facts.live) classes[runner.machine].push_back(&runner);
  std::vector<QueueStep> steps;
  for (const WaitingJob& job : facts.waiting)
    if (auto step = step_of(facts, classes, job, config)) steps.push_back(*std::move(step));
  return steps;
}

bool watch_queue(EngineContext& context) {
  const QueueFacts facts = load_queue(context);
  const std::vector<QueueStep> steps = decide(facts, context.config);
  if (steps.empty()) return false;
  return storage::write(context.db, [&](storage::Transaction& transaction) {
    bool changed = false;
    for (const QueueStep& step : steps)
      changed |=
          std::visit([&](const auto& taken) { return apply(transaction, taken, facts.now); }, step);
    return changed;
  });
}

}  // namespace nightjar::service
