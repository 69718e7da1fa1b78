// What was measured at the ends of a search, and beside a step: the evidence behind its answer, for
// people to judge. In the measured unit.
#pragma once

#include <optional>
#include <vector>

#include "bisect/search.hpp"
#include "bisect/statistics.hpp"

namespace nightjar::cli {

inline constexpr double confidence = .95, stated_power = .9;

// A location with the interval that its runs leave, where the service's Level is accepted.
struct LevelEstimate {
  double location = 0, low = 0, high = 0;
  int runs = 0;
};

// Hodges-Lehmann location of a commit's runs; nullopt without any.
std::optional<LevelEstimate> level_of(const std::vector<bisect::SearchRun>& runs, int commit);

// Failure rate of the runs on the commits first..last, with its score interval (Wilson); nullopt
// without any.
std::optional<LevelEstimate> failure_rate_of(const std::vector<bisect::SearchRun>& runs, int first,
                                             int last);
// The smallest failure rate that would have shown itself within `runs` runs, with probability
// power.
double smallest_rate_seen(int runs);

// In a search for failures both levels are rates, and `change` is not used.
struct Ends {
  LevelEstimate good, bad;
  bisect::Ratio change;  // after/before
  double smallest_seen =
      1;  // the smallest change searched for that would have shown, with probability stated_power
};

// nullopt unless both ends have two runs. `seeks_less`: a change searched for is a ratio under 1.
std::optional<Ends> ends_of(const bisect::SearchLog& log, bool seeks_less);
std::optional<Ends> failure_ends_of(const bisect::SearchLog& log);

// The ends certainly (99 %) differ in the direction searched for, and by less than `threshold`.
bool differ_below(const bisect::SearchLog& log, bool seeks_less, double threshold);

// The same search for what grows: of a number that is searched for a decrease, its inverse.
bisect::SearchLog as_costs(bisect::SearchLog log, bool seeks_less);
// A ratio of costs, as a ratio of the measured number; its own inverse.
bisect::Ratio measured_ratio(const bisect::Ratio& cost, bool seeks_less);

}  // namespace nightjar::cli
