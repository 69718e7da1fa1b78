// Several builds with few runs each, held against the first of them: what the pages show of a
// search.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bisect/statistics.hpp"

namespace nightjar::bisect {

// By group: its location (Hodges-Lehmann) over the first group's, with Student's interval at
// `confidence` on logs. The runs' sd is taken from all groups together, so that a single run has an
// interval as well. Assumes that runs are independent and vary alike in each group; a drift between
// sessions is not allowed for. Refused: the Mann-Whitney interval, which does not exist at .95
// below four runs a side. nullopt for the first group, for an empty one, and for all if the first
// is empty, if a value is not positive, or if fewer than two runs repeat another.
std::vector<std::optional<Ratio>> against_first(std::span<const std::vector<double>> groups,
                                                double confidence);

}  // namespace nightjar::bisect
