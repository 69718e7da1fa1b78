// What a search may spend, and the smallest change that it blames a commit for: as configured, or
// as the person said who had it taken up again last. Used by the search's steps and by reports.
#pragma once

#include <chrono>
#include <optional>

#include "service/engine/context.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

struct SearchLimits {
  double threshold = .07;
  std::optional<double> own_threshold;  // the same, if a person gave it for this search
  int max_runs = 0;                     // the confirmation's included
  std::chrono::minutes minutes{0};
  // When a person had it taken up again last. Sessions from before then are no obstacles.
  std::optional<Time> widened_at;
};
SearchLimits limits_of(const EngineView& view, const Bisection& search, const Series& series);

}  // namespace nightjar::service
