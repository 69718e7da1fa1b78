#include "storage/calibration.hpp"

#include "storage/jobs.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {

void add_calibration(Transaction& transaction, const CalibrationCase& found) {
  Statement(
      transaction,
      "INSERT INTO calibration (job, series, planted, verdict, ratio, low, high, runs, at_us) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job) DO NOTHING")
      .bind(found.job, found.series, found.planted, found.verdict, found.ratio, found.low,
            found.high, found.runs, found.at)
      .run();
}

CalibrationBudget calibration_budget(const Database& db, MachineId machine) {
  Statement find(db, "SELECT saved_seconds, cases FROM calibration_budget WHERE machine = ?");
  if (!find.bind(machine).step()) return {};
  return {find.next<double>(), find.next<std::int64_t>()};
}

void set_calibration_budget(Transaction& transaction, MachineId machine,
                            const CalibrationBudget& budget) {
  Statement(transaction,
            "INSERT INTO calibration_budget (machine, saved_seconds, cases) VALUES (?, ?, ?) "
            "ON CONFLICT (machine) DO UPDATE SET saved_seconds = excluded.saved_seconds, "
            "cases = excluded.cases")
      .bind(machine, budget.saved_seconds, budget.cases)
      .run();
}

CalibrationTotals calibration_totals(const Database& db, std::optional<MachineId> machine) {
  CalibrationTotals totals;
  Statement cases(db,
                  "SELECT planted, count(*), sum(verdict = 'worse') FROM calibration "
                  "JOIN series ON series.id = calibration.series "
                  "WHERE series.machine = coalesce(?, series.machine) GROUP BY planted ORDER BY "
                  "max(calibration.id)");
  cases.bind(machine);
  while (cases.step()) {
    const auto planted = cases.next<double>();
    const int count = cases.next<int>(), worse = cases.next<int>();
    (planted == 0 ? totals.same_build : totals.planted) += count;
    (planted == 0 ? totals.false_alarms : totals.seen) += worse;
    if (planted > 0) totals.planted_change = planted;
  }
  Statement searches(db,
                     "SELECT count(*), coalesce(sum(outcome = 'exact'), 0), coalesce(sum(outcome = "
                     "'innocent'), 0) "
                     "FROM replay JOIN series ON series.id = replay.series "
                     "WHERE series.machine = coalesce(?, series.machine)");
  searches.bind(machine);
  if (searches.step()) {
    totals.searches = searches.next<int>();
    totals.exact = searches.next<int>();
    totals.innocent = searches.next<int>();
  }
  return totals;
}

std::vector<Job> unjudged_calibrations(const Database& db) {
  Statement find(
      db,
      "SELECT id FROM job WHERE kind = 'calibrate' AND repeats IS NULL "
      "AND NOT EXISTS (SELECT 1 FROM calibration WHERE calibration.job = job.id) ORDER BY id");
  std::vector<Job> jobs;
  for (const JobId id : read_all(find, [](Statement& row) { return row.next<JobId>(); }))
    jobs.push_back(*find_job(db, id));
  return jobs;
}

std::vector<CalibrationCount> count_calibrations(const Database& db) {
  Statement find(
      db,
      "SELECT series, planted, count(*), sum(verdict = 'worse'), sum(verdict = 'inconclusive') "
      "FROM calibration GROUP BY series, planted ORDER BY series, planted");
  return read_all(find, [](Statement& row) -> CalibrationCount {
    return {row.next<SeriesId>(), row.next<double>(), row.next<int>(), row.next<int>(),
            row.next<int>()};
  });
}

}  // namespace nightjar::storage
