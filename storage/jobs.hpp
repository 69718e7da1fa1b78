// The job queue: leases, attempts, affinity. A result and its job's state are one transaction.
#pragma once

#include <map>
#include <optional>
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
Job add_job(Database& db, const Job& job);
std::optional<Job> find_job(Database& db, JobId id);
std::optional<Job> find_job(Database& db, std::string_view key);
std::vector<Job> jobs_of_night(Database& db, NightId night, JobKind kind);
Page<Job> list_jobs(Database& db, std::optional<JobState> state, const PageRequest& page);
std::map<JobState, int> count_jobs(Database& db);
std::map<JobState, int> count_jobs_of_night(Database& db, NightId night);

// A job that `runner` held when it began anew comes first, as a fresh attempt. Otherwise the best
// queued job: same machine class, all its workloads runnable there, affinity respected; highest
// priority, then oldest. Leases it, raises its attempt, and notes that the runner was seen at
// `now`. Runner::workloads holds <name>@<version>.
std::optional<Job> claim_job(Database& db, const Runner& runner, Time now, Time lease_until);
// False if the lease is no longer this attempt's.
bool renew_lease(Database& db, JobId id, int attempt, Time lease_until);
// Back to the queue at once (graceful stop); the attempt is not counted as lost.
bool release_job(Database& db, JobId id, int attempt);
// Returns leases that ended before `now` to the queue; the third lost attempt fails the job.
// Returns the jobs touched.
std::vector<JobId> expire_leases(Database& db, Time now);
void cancel_job(Database& db, JobId id, std::string_view reason);
// Screening, confirmation and calibration of a night that is called off; its searches go on.
// Returns how many.
int cancel_jobs_of_night(Database& db, NightId night, std::string_view reason);
// `runner` is a new process: what it held is its own again with its next claim, and no lost
// attempt. One that restarts on the same job again and again loses attempts as any other.
void return_jobs(Database& db, RunnerId runner);

enum class Accepted { stored, already_stored, stale };
// Stores every run with all raw samples and sets the job done, in one transaction. already_stored
// if this job has its result; stale if `attempt` is not the latest or the job was failed or
// cancelled. The latest attempt's result is welcome after its lease ran out too, until somebody
// claims the job anew. Series are interned on the way: `variant` of each run's build. Control runs
// and runs that measured nothing are kept without a series. Throws std::invalid_argument for an
// unknown job and for a run that was not asked for or comes twice.
Accepted store_result(Database& db, JobId id, int attempt, const SessionResult& result, Time now);
// Marks a job failed for a reason a runner gave; false if `attempt` is not the latest or the job
// has ended.
bool fail_job(Database& db, JobId id, int attempt, std::string_view reason);
// What store_result stored, as it came; nullopt before.
std::optional<SessionResult> session_of(Database& db, JobId id);

// What a job of profiles found out on each of its builds, all runs of it together.
std::map<BuildId, Profile> profiles_of_job(Database& db, JobId id);

// What was said of a job's session; nullopt before.
std::optional<SessionCheck> find_check(Database& db, JobId id);
void add_check(Database& db, const Job& job, const SessionCheck& check);
// The machine class's last checks, at most `count`, oldest first.
std::vector<SessionCheck> last_checks(Database& db, MachineId machine, std::size_t count);

}  // namespace nightjar::storage
