// Two builds series by series: what the comparison of REST and a difference to a reference are made
// of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/statistics.hpp"
#include "service/engine/context.hpp"
#include "service/report/digest.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// confirm: interleaved runs of both; screen: each in its own night.
NIGHTJAR_ENUM(ComparisonSource, confirm, screen);

struct ComparedSeries {
  Series series;
  std::string domain = {};
  ComparisonSource source = ComparisonSource::screen;
  std::size_t before_runs = 0, after_runs = 0;  // at least 1
  double before = 0, after = 0;                 // Hodges-Lehmann locations, in the metric's unit
  std::optional<bisect::Ratio> change = {};  // after / before; none where a value is not positive
  bisect::Difference difference = {};        // after - before
};
// What the nights of both builds measured, by id of the series. Empty where one has no night.
std::vector<ComparedSeries> compared_series(const storage::Database& db, BuildId good, BuildId bad);

// `least`: the smallest change that is listed, as a share. Both builds must be stored.
DifferenceInput difference_facts(const EngineView& view, BuildId reference, BuildId build,
                                 double least);

}  // namespace nightjar::service
