// Judges a step of an imported history that the rules before 11 found. Used by verify.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bisect/evidence/evidence.hpp"

namespace nightjar::evidence {

// Histories by earlier rules were split by another search, which judged a step within 32 positions.
inline constexpr int by_levels = 11;

// The step at the position that the verdict `said` names, judged again. Its two levels are those
// stretches next to it whose locations the verdict gives. That these are the longest without
// another change is not judged. Throws std::logic_error if there are none, or no such step.
bisect::Change earlier_history_step(const nlohmann::json& said, const HistoryMedians& history,
                                    const bisect::DetectionPolicy& policy);

}  // namespace nightjar::evidence
