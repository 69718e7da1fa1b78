// What a series' new runs are held against, and by which policy: all that its own history says.
#pragma once

#include <vector>

#include "bisect/noise_class.hpp"
#include "service/engine/context.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// A level as a multiple of the level `before`, in cost: above 1 is worse, whichever way the metric
// counts.
double worsening(const Series& series, double before, double level);

// A level over the level `before`; of a slope, which may be zero, by the judged values.
double ratio_of(const Series& series, double before, double level);

// Values of the screen runs of the series' newest builds, oldest build first; at most `limit`
// builds.
std::vector<std::vector<double>> runs_by_build(const storage::Database& db, SeriesId series,
                                               int limit);

// Noise is learned from this many of the series' newest builds.
inline constexpr int noise_builds = 14;
bisect::SeriesNoise noise_of(const storage::Database& db, const Series& series);
// The same, from values that were read already, by build.
bisect::SeriesNoise noise_of(const Series& series, std::vector<std::vector<double>> builds);
// The configured policy, adapted to the noise.
bisect::DetectionPolicy learned_policy(const EngineView& view, const Series& series);
// The smallest change for which a commit is blamed: the series' own threshold if it has one, else
// the configured one.
double search_threshold(const EngineView& view, const Series& series);

}  // namespace nightjar::service
