// What a comparison of two sides came to. Made by `compare`, written by compare_text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bisect/detection.hpp"
#include "service/cli/metrics_files.hpp"

namespace nightjar::cli {

struct ComparedRow {
  std::string metric, verdict, unit;  // no unit if it is not known
  double control = 0, treatment = 0;
  std::optional<bisect::Ratio> ratio;  // none of a slope and where there is a 0: a difference then
  bisect::Difference difference;
  std::size_t control_runs = 0, treatment_runs = 0;

  // False if even the whole range of so few runs covers less than 90 % of what an interval should.
  bool has_interval() const;
};

struct ComparedMetrics {
  std::vector<ComparedRow> rows;
  std::vector<OneSided> lost, added;  // in the control only, in the treatment only
  std::vector<NotJudged> not_judged;

  bool any_is(const char* verdict) const;
  // A workload of the control failed, or is missing, in the treatment.
  bool lost_any() const;
};

}  // namespace nightjar::cli
