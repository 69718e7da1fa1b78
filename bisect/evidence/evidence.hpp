// The JSON that goes with each change of a regression's state: what was decided, on what numbers,
// by which rule, so that a reader (and `nightjar verify`) can judge again. Each number is a run's
// value and names the run whose raw samples it comes from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bisect/detection.hpp"
#include "bisect/search.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"

namespace nightjar::evidence {

// The version of the rules that verdicts are made by; rises when one log could be judged otherwise.
inline constexpr int rules = 6;

// Runs' values, and which runs they are of.
struct Values {
  std::vector<double> values;
  std::vector<RunId> runs;
};

std::string of_screening(const bisect::Screen& screen, const Values& tonight,
                         std::span<const double> levels, const bisect::DetectionPolicy& policy);
// `levels`: newest first, tonight's included.
std::string of_creep(const bisect::Creep& creep, const Values& tonight,
                     std::span<const double> levels, const bisect::DetectionPolicy& policy);
std::string of_confirmation(const bisect::Confirmation& confirmation, const Values& good,
                            const Values& bad, const bisect::DetectionPolicy& policy);

// A search's log, the policy it was judged by, the run of each of its values, and the commits that
// its positions stand for: commits[0] is the good end.
struct SearchInput {
  const bisect::SearchLog& log;
  const bisect::SearchPolicy& policy;
  const std::vector<RunId>& runs;
  const std::vector<CommitSha>& commits;
};
std::string of_search(const bisect::Answer& answer, const bisect::Belief& belief,
                      const SearchInput& input);
// An object with one sentence.
std::string of_reason(std::string_view reason);

// JSON array of {"commits": [...], "probability": p}; best first.
std::string posterior_json(const bisect::Belief& belief, const std::vector<CommitSha>& commits);
// The commits of a cell; cell positions start at 1.
std::vector<CommitSha> cell_commits(int first, int last, const std::vector<CommitSha>& commits);

}  // namespace nightjar::evidence
