// The JSON that goes with each change of a regression's state: what was decided, on what numbers, by
// which rule, so that a reader can judge again.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bisect/detection.hpp"
#include "bisect/search.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

std::string screening_evidence(const bisect::Screen& screen, std::span<const double> runs,
                               std::span<const double> levels, const bisect::DetectionPolicy& policy);
std::string confirmation_evidence(const bisect::Confirmation& confirmation,
                                  std::span<const double> good, std::span<const double> bad,
                                  const bisect::DetectionPolicy& policy);
// An object with one sentence.
std::string plain_evidence(std::string_view reason);
std::string search_evidence(const bisect::Answer& answer, const bisect::Belief& belief,
                            const std::vector<CommitSha>& commits, const bisect::SearchLog& log);
// JSON array of {"commits": [...], "probability": p}; best first.
std::string posterior_json(const bisect::Belief& belief, const std::vector<CommitSha>& commits);
// The commits of a cell; commits[0] is the good end, so cell positions start at 1.
std::vector<CommitSha> cell_commits(int first, int last, const std::vector<CommitSha>& commits);

}  // namespace nightjar::service
