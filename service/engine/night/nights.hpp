// Nights from measuring to verdicts: one that measures gets its sessions, a measured one is
// screened, a judged one is closed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "service/engine/context.hpp"
#include "service/engine/night/profile_turns.hpp"
#include "service/engine/trust/calibration.hpp"
#include "service/engine/trust/counts.hpp"
#include "service/engine/verdict/screening.hpp"
#include "storage/affected_classes.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/machine.hpp"
#include "storage/model/night.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

struct MeasuringFacts {
  Night night;
  Time now{};
  std::optional<Build> build;
  std::vector<Job> missing;  // sessions of live machine classes that have none yet
  bool planned = false;      // some class has its sessions
  bool pending = false;      // one of them is under way; what follows is then not read
  std::string failure;       // of the last one that failed
  Observations observed;
  std::vector<Regression> to_resume;
  CalibrationFacts calibration;
  ProfileTurns turns;
};
MeasuringFacts load_measuring(const EngineView& view, const Night& night);

struct AwaitNight {};
struct PlanSessions {
  std::vector<Job> jobs;
};
struct EndNight {
  std::string reason;
};
struct JudgeNight {
  ScreeningVerdicts verdicts;
  std::vector<Regression> resumed;
  std::vector<CalibrationPlan> calibrations;
  std::vector<Job> profiles;
  std::vector<Judged> judged;
  std::string reason;
};
using MeasuringStep = std::variant<AwaitNight, PlanSessions, EndNight, JudgeNight>;
MeasuringStep decide(const MeasuringFacts& facts, const Config& config);

struct JudgingFacts {
  Night night;
  Time now{};
  std::vector<Regression> regressions;  // the night's
  Observations observed;                // not read while one of them is suspected
  // Nor are these: what each finding shows, and where it might have been seen, too.
  std::map<RegressionId, std::vector<Series>> shown;
  std::vector<MachineClass> classes;
};
JudgingFacts load_judging(const EngineView& view, const Night& night);

// Where else each finding was looked for. A later joining changes it.
struct ClassesElsewhere {
  RegressionId regression;
  std::vector<AffectedClass> classes;
};
struct CloseNight {
  Released released;
  std::string reason;
  std::vector<ClassesElsewhere> elsewhere;
};
using JudgingStep = std::variant<AwaitNight, CloseNight>;
JudgingStep decide(const JudgingFacts& facts);

// Plans missing sessions, screens when all are in, closes when nothing is suspected any more.
bool advance_nights(EngineContext& context);

}  // namespace nightjar::service
