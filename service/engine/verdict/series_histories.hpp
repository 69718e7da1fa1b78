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
  std::vector<Level> levels{};    // valid ones before the night, newest first, at most `limit`
  std::optional<Level> newest{};  // of the night or before, whether or not it is valid
};

// These read each kind of row once for all series, which have one metric.
std::map<SeriesId, SeriesHistory> load_histories(const EngineView& view,
                                                 const std::vector<Series>& series, NightId night,
                                                 int limit);
// Learned from the newest builds of each. Takes longer than all else: it reads every run of them.
std::map<SeriesId, bisect::SeriesNoise> load_noise(const EngineView& view,
                                                   const std::vector<Series>& series);

}  // namespace nightjar::service
