// Cases whose truth is known, on a share of every night's time: a build against itself, and a
// slow-down that the harness plants. What comes out is how far this installation's verdicts can be
// trusted.
#pragma once

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "bisect/detection.hpp"
#include "service/engine/context.hpp"
#include "storage/calibration.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/night.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// What one workload's run takes on a machine class.
struct RunPrice {
  Workload workload;
  double seconds = 0;
};

// What a night measured on one machine class, and what that class may still spend.
struct CalibrationFunds {
  double spent_seconds = 0;
  std::vector<RunPrice> prices;
  storage::CalibrationBudget budget;
};
using CalibrationFacts = std::map<MachineId, CalibrationFunds>;
CalibrationFacts load_calibration(const EngineView& view, const std::vector<Job>& usable);

struct CalibrationPlan {
  MachineId machine;
  std::vector<Job> cases;
  storage::CalibrationBudget budget;  // what is left
};
// Saves the configured share of the night's measuring time and plans as many cases as the savings
// of each machine class pay for. Workloads take turns, as do the two kinds of case. Pure.
std::vector<CalibrationPlan> plan_calibration(const CalibrationFacts& facts, const Night& night,
                                              const Build& build, const Config& config);
void store(storage::Transaction& transaction, const CalibrationPlan& plan, Time now);

// A case and what its session measured of each side.
struct CalibrationRuns {
  Job asked;
  bool pending = false;
  std::optional<Series> series;  // nullopt: nothing was ever measured of it
  bisect::DetectionPolicy policy;
  std::vector<double> plain, other;
};
CalibrationRuns load_case(const EngineView& view, const Job& asked);
// Judges a case by the rules of stage two; nullopt if there is nothing to judge yet. Pure.
std::optional<CalibrationCase> judge(const CalibrationRuns& runs, Time now);
// Judges the cases that were measured.
bool judge_calibrations(EngineContext& context);

}  // namespace nightjar::service
