// Results: a session's runs with all raw samples, their values in series, and whether the session
// counts. Storing them ends the job.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/job.hpp"

namespace nightjar::storage {

NIGHTJAR_ENUM(Accepted, stored, already_stored, stale);
// Stores every run with all raw samples and sets the job done, in one transaction. already_stored
// if this job has its result; stale if `attempt` is not the latest or the job was failed or
// cancelled. The latest attempt's result is accepted after its lease ran out, too, until somebody
// claims the job again. Series are interned on the way: `variant` of each run's build. Control runs
// and runs that measured nothing are kept without a series. Throws std::invalid_argument for an
// unknown job and for a run that was not asked for or comes twice.
Accepted store_result(Transaction& transaction, JobId id, int attempt, const SessionResult& result,
                      Time now);
// What store_result stored, as it came; nullopt before.
std::optional<SessionResult> session_of(const Database& db, JobId id);
// When that was; nullopt before.
std::optional<Time> result_time(const Database& db, JobId id);

// What a job of profiles found out on each of its builds, all runs of it together.
std::map<BuildId, Profile> profiles_of_job(const Database& db, JobId id);

// What was said of a job's session, without readings; nullopt before.
std::optional<SessionCheck> find_check(const Database& db, JobId id);
// One a gauge; none before, and of any session but a screening.
std::vector<ControlReading> readings_of(const Database& db, JobId id);
void add_check(Transaction& transaction, const Job& job, const SessionCheck& check);
// The jobs whose sessions are stored and have no check yet, in the order in which they were asked
// for. Profiles are never checked.
std::vector<JobId> unchecked_sessions(const Database& db);
// Whether a session that was asked for before this one, of the same night's screening or of the
// same comparison on the machine class, is not over or has no check yet.
bool awaits_earlier_session(const Database& db, const Job& asked);
// The machine class's last checks, at most `count`, oldest first, without readings.
std::vector<SessionCheck> last_checks(const Database& db, MachineId machine, FactsId facts,
                                      std::size_t count);
// The controls of the sessions of screening that were like the job's, of void ones too, in no
// order: the same machine class, facts and variant, in the last `nights` nights before its own.
// Variants have nights of their own in one evening, and an evening is one event of a machine.
std::vector<EarlierControl> controls_before(const Database& db, JobId id, int nights);

}  // namespace nightjar::storage
