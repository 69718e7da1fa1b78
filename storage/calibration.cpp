#include "storage/calibration.hpp"

#include "storage/jobs.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {

void add_calibration(Database& db, const CalibrationCase& found) {
  Statement(db,
            "INSERT INTO calibration (job, series, planted, verdict, ratio, low, high, runs, at_us) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job) DO NOTHING")
      .bind(found.job, found.series, found.planted, found.verdict, found.ratio, found.low, found.high,
            found.runs, found.at)
      .run();
}

std::vector<Job> unjudged_calibrations(Database& db) {
  Statement find(db,
                 "SELECT id FROM job WHERE kind = 'calibrate' AND instr(key, '/again:') = 0 "
                 "AND NOT EXISTS (SELECT 1 FROM calibration WHERE calibration.job = job.id) ORDER BY id");
  std::vector<Job> jobs;
  for (const JobId id : read_all(find, [](Statement& row) { return row.next<JobId>(); }))
    jobs.push_back(*find_job(db, id));
  return jobs;
}

std::vector<CalibrationCount> count_calibrations(Database& db) {
  Statement find(db,
                 "SELECT series, planted, count(*), sum(verdict = 'worse'), sum(verdict = 'inconclusive') "
                 "FROM calibration GROUP BY series, planted ORDER BY series, planted");
  return read_all(find, [](Statement& row) -> CalibrationCount {
    return {row.next<SeriesId>(), row.next<double>(), row.next<int>(), row.next<int>(), row.next<int>()};
  });
}

}  // namespace nightjar::storage
