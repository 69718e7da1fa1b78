// Compares several builds, with few runs each, with the first of them. The pages show a search so.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bisect/statistics.hpp"

namespace nightjar::bisect {

// For each group, its Hodges-Lehmann location over the first group's, with Student's interval at
// `confidence` on logs. The sd is pooled over all groups, so that a single run has an interval too.
// Assumes that runs are independent and vary alike in each group, without drift between sessions.
// Refused: the Mann-Whitney interval, which does not exist at .95 below four runs a side.
// nullopt for the first group and for an empty one. nullopt for all groups if the first is empty, a
// value is not positive, or fewer than two runs repeat another of their group.
std::vector<std::optional<Ratio>> against_first(std::span<const std::vector<double>> groups,
                                                double confidence);

}  // namespace nightjar::bisect
