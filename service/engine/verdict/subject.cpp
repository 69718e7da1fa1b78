#include "service/engine/verdict/subject.hpp"

#include "service/engine/jobs/session_check.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {

bool fails(const RunResult& run) {
  return nightjar::is_failure(run.status) || gives_another_result(run);
}

// How runs of `build` failed in one session of a confirmation.
std::set<RunStatus> failures_of(const storage::Database& db, const SessionOutcome& outcome,
                                BuildId build) {
  std::set<RunStatus> kinds;
  if (outcome.state != SessionOutcome::State::usable) return kinds;
  const auto session = storage::session_of(db, outcome.job.id);
  if (!session) return kinds;
  const JobSpec& spec = outcome.job.spec;
  for (const RunResult& run : session->runs) {
    const PlannedRun& planned = spec.order.at(static_cast<std::size_t>(run.order));
    if (planned.is_control()) continue;
    const auto side = static_cast<std::size_t>(planned.environment);
    if (spec.environments.at(side).build == build && fails(run)) kinds.insert(run.status);
  }
  return kinds;
}

}  // namespace

Subject::Subject(const storage::Database& db, const SearchedChange& change, const Series& series)
    : failures_(series.metric == failures_metric) {
  if (!failures_) return;
  for (const Job& asked : confirmation_jobs(db, change, series))
    kinds_.merge(failures_of(db, outcome_of(db, asked), change.bad));
}

bool Subject::is_informative(const RunResult& run) const {
  if (!failures_) return run.status == RunStatus::measured;
  const bool passes = run.status == RunStatus::measured && !gives_another_result(run);
  return passes ||
         (run.status != RunStatus::unavailable && (kinds_.empty() || kinds_.contains(run.status)));
}

}  // namespace nightjar::service
