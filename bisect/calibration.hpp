// What cases with a known truth say about the rules. Pure; used by the service's calibration.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bisect/detection.hpp"
#include "bisect/statistics.hpp"

namespace nightjar::bisect {

// Clopper and Pearson's interval of a probability after `hits` in `cases`; [0, 1] without cases.
// Throws std::invalid_argument unless 0 <= hits <= cases.
Interval binomial_interval(std::int64_t hits, std::int64_t cases, double confidence);

// How a series scatters, as sds of logs, and how many runs a night it has.
struct Scatter {
  double runs_sd = 0;    // of single runs of one build
  double nights_sd = 0;  // of the levels of nights, see nights_sd(); 0: not known
  int runs = 5;          // a night
};
// The robust sd of what screen() holds a night against: the logs of up to 14 judged levels. 0 for
// fewer than three. It has in it what differs between nights only: neighbours, heat, builds.
double nights_sd(std::span<const double> levels, const DetectionPolicy& policy);

// The smallest worsening that is flagged with probability .9 on its first night. The screen and the
// last rung of the confirmation count, with normal errors. The night's bar is left out: a change of
// this size meets it.
double smallest_seen(const Scatter& scatter, const DetectionPolicy& policy);

// The policy, with what the screen can show of such a series where that is over the threshold.
DetectionPolicy with_smallest_shown(DetectionPolicy policy, const Scatter& scatter);

// True if a class whose smallest change this is cannot be said to show the threshold. A change of
// just the threshold is flagged half of the time on any machine, since an estimate falls on either
// side of it. So a quarter over the threshold still counts as showing it.
bool cannot_show(double smallest, double threshold);

// The median of some values, and its 95 % interval by order statistics, which assumes nothing about
// their distribution. With fewer than 6 values the interval is their range, which covers less.
struct Typical {
  int values = 0;
  double median = 0, low = 0, high = 0;
};
Typical typical(std::vector<double> values);  // throws std::invalid_argument without values

}  // namespace nightjar::bisect
