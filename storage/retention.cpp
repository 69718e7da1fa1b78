#include "storage/retention.hpp"

#include <string>

#include "storage/connection.hpp"
#include "storage/paging.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {
namespace {

// Runs of a job that nothing rests on. A control run has no workload, and its value is kept with
// the session's check.
std::vector<RunId> runs_without_use(const Database& db, JobId session) {
  Statement find(db,
                 "SELECT run.id FROM job CROSS JOIN run ON run.job = job.id "
                 "WHERE job.id = ? AND job.kind IN ('screen', 'calibrate') "
                 "AND NOT EXISTS (SELECT 1 FROM regression AS found "
                 "  CROSS JOIN regression_series AS shown ON shown.regression = found.id "
                 "  CROSS JOIN series ON series.id = shown.series "
                 "  WHERE found.night = job.night AND series.workload = run.workload "
                 "  AND series.machine = job.machine) "
                 "AND NOT EXISTS (SELECT 1 FROM series "
                 "  CROSS JOIN level ON level.series = series.id AND level.night = job.night "
                 "  WHERE series.workload = run.workload AND series.machine = job.machine "
                 "  AND NOT EXISTS (SELECT 1 FROM level AS newer WHERE newer.series = series.id "
                 "    AND newer.night > level.night))");
  return read_all(find.bind(session), [](Statement& row) { return row.next<RunId>(); });
}

}  // namespace

std::vector<JobId> sessions_with_old_samples(const Database& db, Time before, int most) {
  Statement find(db,
                 "SELECT session.job FROM session CROSS JOIN job ON job.id = session.job "
                 "LEFT JOIN night ON night.id = job.night "
                 "WHERE samples_dropped_us IS NULL AND stored_at_us < ? "
                 "AND night.trigger IS NOT 'imported' ORDER BY stored_at_us LIMIT ?");
  return read_all(find.bind(before, most), [](Statement& row) { return row.next<JobId>(); });
}

int drop_samples(Transaction& transaction, JobId session, Time now) {
  const std::vector<RunId> runs = runs_without_use(transaction, session);
  Statement samples(transaction, "DELETE FROM sample WHERE run = ?");
  Statement times(transaction, "DELETE FROM run_times WHERE run = ?");
  for (const RunId run : runs) {
    samples.bind(run).run();
    times.bind(run).run();
  }
  Statement(transaction, "UPDATE session SET samples_dropped_us = ? WHERE job = ?")
      .bind(now, session)
      .run();
  return static_cast<int>(runs.size());
}

void give_back_pages(Database& db, int pages) {
  db.impl().execute(("PRAGMA incremental_vacuum(" + std::to_string(pages) + ")").c_str());
}

}  // namespace nightjar::storage
