// The JSON that goes with each change of a regression's state: the decision, its numbers and its
// rule. A reader, or `nightjar verify`, can judge again from it. Each run's value names the run
// that its raw samples belong to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bisect/attribution.hpp"
#include "bisect/change_points.hpp"
#include "bisect/evidence/naming.hpp"
#include "bisect/fleet.hpp"
#include "bisect/search.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/package_search.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::evidence {

// The version of the rules. It rises when they would judge some log differently.
inline constexpr int rules = 12;

// Runs' values, and the runs that they belong to.
struct Values {
  std::vector<double> values;
  std::vector<RunId> runs;
};

// `controls`: verdicts before rules 12 knew nothing of them.
Evidence of_screening(const bisect::Screen& screen, const Values& tonight,
                      std::span<const double> levels, const bisect::DetectionPolicy& policy,
                      std::span<const ControlReading> controls = {});
// `levels`: newest first, tonight's included.
Evidence of_creep(const bisect::Creep& creep, const Values& tonight, std::span<const double> levels,
                  const bisect::DetectionPolicy& policy);
// A change of the level in an imported history: the builds, oldest first, and the median of each.
struct HistoryMedians {
  std::vector<BuildId> builds;
  std::vector<double> medians;
};
Evidence of_history(const bisect::Change& change, const HistoryMedians& history,
                    const bisect::DetectionPolicy& policy);
// `bar`: that of its night. Without one, as before rules 8, the confirmation's own rule decided.
Evidence of_confirmation(const bisect::FleetConfirmation& confirmed, const Values& good,
                         const Values& bad, const bisect::DetectionPolicy& policy,
                         const std::optional<bisect::NightBar>& bar);

// Runs of a good and a bad build, and runs of each with the packages or the Python files of the
// other.
struct CellValues {
  Values good, source, other, bad;
  bisect::Cells cells() const { return {good.values, source.values, other.values, bad.values}; }
};
// Writes the evidence of stage "attribution", which compares packages, or "wheels".
Evidence of_attribution(const bisect::AttributionVerdict& verdict, const CellValues& cells,
                        const bisect::DetectionPolicy& policy);

// A search's log and policy, the run of each value, and the commit of each position: commits[0] is
// the good end.
struct SearchInput {
  const bisect::SearchLog& log;
  const bisect::SearchPolicy& policy;
  const std::vector<RunId>& runs;
  const std::vector<CommitSha>& commits;
  // What tells a culprit from a range. null: verdicts before rules 7 made no difference.
  const Naming* naming = nullptr;
  // Set if a person widened the search: the build at which it began, in place of the regression's
  // good build.
  std::optional<BuildId> good_end = {};
  bool is_better = false;  // it searched for what made a build better, by inverted costs
  // The builds that the log's wheels are. Empty: verdicts before rules 11 knew nothing of wheels.
  std::vector<BuildId> wheels = {};
};
Evidence of_search(const bisect::Answer& answer, const bisect::Belief& belief,
                   const SearchInput& input);
// The same for a search among packages, whose positions are the environments of `search`.
struct PackageInput {
  const PackageSearch& search;
  const bisect::SearchLog& log;
  const bisect::SearchPolicy& policy;
  const std::vector<RunId>& runs;
};
Evidence of_packages(const bisect::Answer& answer, const bisect::Belief& belief,
                     const PackageInput& input);
// An object with one sentence.
Evidence of_reason(std::string_view reason);

// A JSON array of {"commits": [...], "probability": p}.
std::string posterior_json(const std::vector<CellMass>& cells,
                           const std::vector<CommitSha>& commits);
// The steps that the answer names, as they are named.
std::vector<NamedStep> named_steps(const bisect::Answer& answer, const Naming& naming);
// The commits of a cell; cell positions start at 1. Throws std::out_of_range for others.
std::vector<CommitSha> cell_commits(int first, int last, const std::vector<CommitSha>& commits);

}  // namespace nightjar::evidence
