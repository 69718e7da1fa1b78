// The detection policy of one series: the configured one with the series' threshold, direction and
// repeatability.
#pragma once

#include <string_view>

#include "bisect/detection.hpp"
#include "service/config.hpp"
#include "service/engine/context.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

bisect::DetectionPolicy policy_of(const Series& series, const Config& config);
// The threshold of a metric on every workload that has none of its own.
double threshold_of(std::string_view metric, const Config& config);
// The variant of a stored build ("cpu", "cu126"); that of the first source for any other.
std::string variant_of(const EngineView& view, BuildId build);
// Returns the state of a confirmed regression for which no commit can be named.
RegressionState unnamed_state(const Config& config);
// Whether the configuration asks for verdicts on this metric (others are stored only).
bool is_judged(const Series& series, const Config& config);

}  // namespace nightjar::service
