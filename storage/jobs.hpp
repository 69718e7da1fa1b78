// The job queue: leases, attempts, affinity.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/job.hpp"
#include "storage/model/machine.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// Queues a job unless one with its key exists; returns the stored one either way.
Job add_job(Transaction& transaction, const Job& job);
std::optional<Job> find_job(const Database& db, JobId id);
std::optional<Job> find_job(const Database& db, std::string_view key);
// The newest of the jobs whose key is `start` and a number; nullopt if there is none.
std::optional<JobId> last_job_with_key(const Database& db, std::string_view start);
// What answers for a job's latest claim are held against, without the whole specification.
struct JobClaim {
  JobKind kind = JobKind::screen;
  JobState state = JobState::queued;
  int attempt = 0;
  std::optional<RunnerId> runner;
  std::string nonce;
  // It waits for an answer, whether its lease has ended or not.
  bool is_open() const { return state == JobState::leased || state == JobState::queued; }
};
JobClaim claim_of(const Job& job);
std::optional<JobClaim> find_claim(const Database& db, JobId id);
// Repeats of void sessions are left out.
std::vector<Job> jobs_of_night(const Database& db, NightId night, JobKind kind);
// Whether one of its screening is queued or claimed.
bool has_open_screening(const Database& db, NightId night);
// The jobs that measure the void session of `asked` again, in order.
std::vector<Job> repeats_of(const Database& db, JobId asked);
struct JobFilter {
  std::optional<JobState> state = {};
  std::optional<NightId> night = {};
  std::optional<MachineId> machine = {};
  std::optional<std::string> variant = {};  // of its builds
  std::optional<FactsId> facts = {};        // of the machine that measured it
  template <class Where>
  void conditions(Where where) const {
    where("state = ?", state);
    where("night = ?", night);
    where("machine = ?", machine);
    where("variant = ?", variant);
    where("facts = ?", facts);
  }
};
// What the machine class was, by the facts of the runners that measured the night's sessions on it.
std::set<FactsId> facts_of_sessions(const Database& db, NightId night, MachineId machine);
// Returns the facts of the runner that claimed the job last; 0: not known.
FactsId facts_of_job(const Database& db, JobId id);
Page<Job> list_jobs(const Database& db, const JobFilter& filter, const PageRequest& page);
std::map<JobState, int> count_jobs(const Database& db);
std::map<JobState, int> count_jobs_of_night(const Database& db, NightId night);

// A queued session, and what a runner needs to claim it.
struct WaitingJob {
  JobId id;
  MachineId machine;
  std::optional<RunnerId> affinity;
  std::vector<std::string> workloads;     // <name>@<version>
  std::optional<Time> unclaimable_since;  // nullopt: when it was looked at, a runner could claim it
  std::optional<std::string> variant = {};  // of its builds; nullopt: whatever a runner measures
};
std::vector<WaitingJob> waiting_jobs(const Database& db);
void note_unclaimable(Transaction& transaction, JobId id, std::optional<Time> since);
// Forgets it for all jobs, such as when the service starts: runners could not claim while it was
// away.
void forget_unclaimable(Transaction& transaction);
// Any runner of the class may claim it from now on.
void drop_affinity(Transaction& transaction, JobId id);
// Fails a queued job that nobody will claim. False if it is not queued any more.
bool fail_queued_job(Transaction& transaction, JobId id, std::string_view reason);

// What the configuration says about claims.
struct ClaimRules {
  std::chrono::microseconds silent =
      std::chrono::minutes(5);  // a runner is not live if it was last seen longer ago
  std::string variant = "cpu";  // what a runner measures if its labels name no variant
};
// Returns a job that `runner` held when it restarted, as a fresh attempt. If there is none, returns
// the best queued job of the same machine class and of a variant that the runner's label names. All
// its workloads must be runnable there, and its affinity is respected; the highest priority comes
// first, then the oldest. If there is no such job either, a builder gets the best build that is
// due. Leases the job, raises its attempt, draws its nonce, and notes that the runner was seen at
// `now`. Runner::workloads holds <name>@<version>. A runner in quarantine gets nothing. A runner
// that has lost an attempt of a job gets it again only if no other live runner could try it.
std::optional<Job> claim_job(Transaction& transaction, const Runner& runner, Time now,
                             Time lease_until, const ClaimRules& rules = {});
// False if the lease is no longer this attempt's.
bool renew_lease(Transaction& transaction, JobId id, int attempt, Time lease_until);
// Back to the queue at once (graceful stop); the attempt is not counted as lost.
bool release_job(Transaction& transaction, JobId id, int attempt);
// Returns leases that ended before `now` to the queue; the third lost attempt fails the job, unless
// it is a build, which is put off. Each counts as a failure of its runner.
// Returns the jobs touched.
std::vector<JobId> expire_leases(Transaction& transaction, Time now);
// False if the job had ended before.
bool cancel_job(Transaction& transaction, JobId id, std::string_view reason);
// Screening, confirmation and calibration of a night that is called off; its searches go on.
// Returns how many.
int cancel_jobs_of_night(Transaction& transaction, NightId night, std::string_view reason);
// `runner` is a new process: it gets what it held back with its next claim, without a lost attempt.
// A runner that restarts on the same job again and again loses attempts like any other.
void return_jobs(Transaction& transaction, RunnerId runner);

// The wall clock was set by `step`, and is `now`. Times at which runners were seen move with it.
// Leases do, too, to at most `lease` from now. If the clock was set back, waiting times also move.
struct ClockStep {
  Time now{};
  std::chrono::microseconds step{};
  std::chrono::seconds lease{};
};
void follow_clock(Transaction& transaction, const ClockStep& clock);

// Marks a job failed for a reason a runner gave; false if `attempt` is not the latest or the job
// has ended.
bool fail_job(Transaction& transaction, JobId id, int attempt, std::string_view reason);
// Something on the runner's side was in the way, such as a full disk. The job is queued again, for
// another runner if there is one, even if it was for this one alone; the sixth time fails it. It
// counts as a failure of the runner.
// False as for fail_job().
bool put_off_job(Transaction& transaction, JobId id, int attempt, std::string_view reason,
                 Time now);

}  // namespace nightjar::storage
