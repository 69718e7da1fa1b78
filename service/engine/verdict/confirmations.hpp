// Stage two: what the screening suspects is measured again the same night, last good and new build
// interleaved, until the answer is clear. Series of one workload share the sessions.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "bisect/fleet.hpp"
#include "service/engine/context.hpp"
#include "service/engine/verdict/wheel_crossing.hpp"
#include "storage/model/build.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/job.hpp"
#include "storage/model/lock.hpp"
#include "storage/model/night.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

bool advance_confirmations(EngineContext& context);

// All that the next step of a confirmation depends on.
struct ConfirmationFacts {
  Regression regression;
  Series lead;
  std::optional<Build> good_build, bad_build;
  bisect::DetectionPolicy policy;
  Workload workload;  // with what its runs must give
  // Another runner of the class that can repeat a failure: what one machine broke does not fail
  // there.
  std::optional<RunnerId> elsewhere{};
  std::size_t asked = 0;  // sessions so far
  bool pending = false;   // one of them is under way, or nobody has checked it yet
  std::string failure{};  // why one failed for good; what follows is then not read
  // Runs of both builds, and of each wheel with the other's packages.
  evidence::CellValues values{};
  bool a_build_only_fails = false;
  // Set if the builds have different packages: the bad wheel with the good build's packages, and
  // the good wheel with the bad build's. Builds without an id are not stored yet.
  struct Crossing {
    Build source, environment;
  };
  std::optional<Crossing> crossing{};
  // Where one wheel serves both ends, and the ends have two. The bad end of these runs is the bad
  // wheel with the good end's packages, and both overlays have those, too.
  std::optional<WheelCrossing> wheels{};
  evidence::CellValues wheel_values{};
  std::size_t wheel_sessions = 0;  // that ran the overlays
  bisect::NightBar bar{};          // by the suspects of the night in which it was suspected
};
ConfirmationFacts load_confirmation(const EngineView& view, const Regression& regression,
                                    const Series& lead);

struct AwaitSessions {};
// `crossing` and `wheels` run too, if they are there.
struct AskForSession {
  Job job;
  std::optional<ConfirmationFacts::Crossing> crossing{};
  std::optional<WheelCrossing> wheels{};
};
struct CutShort {
  std::string reason;
};
// `level`: what was measured side by side, if that said that the builds do not differ. Without it
// the new build is no level: the next night is held against the last good one again.
struct Dismiss {
  Evidence evidence;
  std::optional<double> level;
};
// Says what caused the change if packages or wheels differ. If that cannot be told, or if it is the
// wheel alone, there is nothing to search for.
struct Attributed {
  Attribution attribution;
  std::string rule;                // of the last verdict
  std::vector<Evidence> evidence;  // a verdict each: of the packages, then of the wheels
};
struct Confirm {
  AffectedSeries measured;
  Evidence evidence;
  std::optional<Attributed> attributed{};
};
using ConfirmationStep = std::variant<AwaitSessions, AskForSession, CutShort, Dismiss, Confirm>;
ConfirmationStep decide(const ConfirmationFacts& facts, const Config& config);

// A confirmation that infrastructure cuts short tells nothing about the builds. Its regression is
// `unconfirmed`, makes no level, and is confirmed again with the next night. After three times it
// is left to a person.
bool awaits_confirmation(const Regression& regression);
void leave_unconfirmed(storage::Transaction& transaction, Regression regression, Time now,
                       const std::string& reason);
// Those of earlier nights that are taken up again once `night` has measured on these machine
// classes.
std::vector<Regression> confirmations_to_resume(const storage::Database& db, const Night& night,
                                                const std::set<MachineId>& machines);
void resume_confirmation(storage::Transaction& transaction, const Regression& regression,
                         const Night& night, Time now);
// Series that wait for a verdict: what is measured of them makes no level meanwhile.
std::set<SeriesId> series_under_suspicion(const storage::Database& db);

// The sessions that were asked for so far to confirm `change`, first to last. Repeats of void ones
// and confirmations that were cut short are left out. What got better has none.
std::vector<Job> confirmation_jobs(const storage::Database& db, const SearchedChange& change,
                                   const Series& lead);

}  // namespace nightjar::service
