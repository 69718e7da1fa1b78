// What was found where the truth is known: a build against itself, and planted slow-downs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/job.hpp"
#include "storage/model/series.hpp"

namespace nightjar {

NIGHTJAR_ENUM(CalibrationVerdict, worse, better, same, inconclusive);

// One comparison of a build with itself; with `planted` > 0 one side took that share longer.
struct CalibrationCase {
  std::int64_t id = 0;
  JobId job;
  SeriesId series;
  double planted = 0;
  CalibrationVerdict verdict = CalibrationVerdict::inconclusive;
  double ratio = 1, low = 1, high = 1;
  int runs = 0;  // a side
  Time at{};
};

// All of a machine class, or of all.
struct CalibrationTotals {
  int same_build = 0, false_alarms = 0;
  int planted = 0, seen = 0;
  double planted_change = 0;  // the newest
  int searches = 0, exact = 0, innocent = 0;
};

namespace storage {

CalibrationTotals calibration_totals(const Database& db, std::optional<MachineId> machine);
// What a machine class may still spend on calibration.
struct CalibrationBudget {
  double saved_seconds = 0;
  std::int64_t cases = 0;  // planned so far
};
CalibrationBudget calibration_budget(const Database& db, MachineId machine);
void set_calibration_budget(Transaction& transaction, MachineId machine,
                            const CalibrationBudget& budget);

void add_calibration(Transaction& transaction, const CalibrationCase& found);  // once a job
// Jobs that calibrate and were not judged yet, whatever their state, without repeats of void
// sessions.
std::vector<Job> unjudged_calibrations(const Database& db);

// The cases of one series and planted change, counted.
struct CalibrationCount {
  SeriesId series;
  double planted = 0;
  int cases = 0;
  int worse = 0;  // of planted = 0: false alarms
  int inconclusive = 0;
};
std::vector<CalibrationCount> count_calibrations(const Database& db);  // by series, then planted

}  // namespace storage
}  // namespace nightjar
