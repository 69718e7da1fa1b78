// Stage two: what the screening suspects is measured again the same night, last good and new build
// interleaved, until the answer is clear. Series of one workload share the sessions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/job.hpp"
#include "storage/model/night.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

bool advance_confirmations(EngineContext& context);

// A confirmation that infrastructure cuts short says nothing of the builds. Its regression is
// `unconfirmed`, makes no level, and is confirmed anew with the next night. After three times it is
// left to a person.
bool awaits_confirmation(const Regression& regression);
void leave_unconfirmed(storage::Transaction& transaction, Regression regression, Time now,
                       const std::string& reason);
// In the caller's transaction: `night` has measured on these machine classes.
void resume_confirmations(EngineContext& context, const Night& night,
                          const std::set<MachineId>& machines);
// Series that wait for a verdict: what is measured of them makes no level meanwhile.
std::set<SeriesId> series_under_suspicion(storage::Database& db);

// The sessions that were asked for so far to confirm `regression`, first to last. Repeats of void
// ones and confirmations that were cut short are left out.
std::vector<Job> confirmation_jobs(storage::Database& db, const Regression& regression,
                                   const Series& lead);
inline std::vector<Job> confirmation_jobs(EngineContext& context, const Regression& regression,
                                          const Series& lead) {
  return confirmation_jobs(context.db, regression, lead);
}

}  // namespace nightjar::service
