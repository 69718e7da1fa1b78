// What the histories of all series that a night measured say of it. Used by its observation.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "bisect/noise_class.hpp"
#include "service/engine/context.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

struct SeriesHistory {
  bisect::SeriesNoise noise{};    // learned from the newest builds
  std::vector<Level> levels{};    // valid ones before the night, newest first, at most `limit`
  std::optional<Level> newest{};  // of the night or before, whether or not it is valid
};

// Reads each kind of row once for all series, which have one metric.
std::map<SeriesId, SeriesHistory> load_histories(const EngineView& view,
                                                 const std::vector<Series>& series, NightId night,
                                                 int limit);

}  // namespace nightjar::service
