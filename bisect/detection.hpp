// Is tonight worse? A cheap screen against the accepted level comes first, then interleaved A/B
// runs until the answer is clear. Pure; used by the service and by `nightjar detect` and `compare`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/model/control.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::bisect {

// "Worse by x" is the ratio after/before for a metric where lower is better, and before/after
// otherwise. A `slope` may be zero, so judged_value() stands for it; without a least change it is
// recorded and never flagged.
struct DetectionPolicy {
  double threshold = .07;      // a change to flag, as a share
  double screen_change = .03;  // stage one: smaller changes are not suspicious
  double screen_z = 1.5;
  double interval_points = .05;  // stage two: clear when the interval is narrower
  double confidence = .95;
  Direction direction = Direction::lower_is_better;
  Repeatability repeatability = Repeatability::noisy;
  double least_change = 0;  // a smaller change is none, in the metric's unit
  // What the screen sees with probability .9 on the first night, where that is over the threshold;
  // 0: it sees the threshold, or its noise is not known. See confirm().
  double smallest_shown = 0;
};

// What ratios are taken of: the value itself; of a `slope` 1 + threshold * value / least_change,
// but at least .1. So a change of least_change from zero is one of the threshold, and a series that
// leaks already must change by a share of its leak.
double judged_value(double value, const DetectionPolicy& policy);
// The value as a cost, which a search works on: judged, and inverted where higher is better.
double cost_of(double value, const DetectionPolicy& policy);
// The same for a search that asks what made it worse, or with `is_better` what made it better: its
// step then is one of the inverted cost.
double searched_cost(double value, const DetectionPolicy& policy, bool is_better);
// What the table of metrics says of one; an unknown metric gets the defaults.
DetectionPolicy policy_of_metric(std::string_view metric, double threshold = .07);
// False for a slope without a least change.
bool is_judged(const DetectionPolicy& policy);

// `unclear`: the machine may have moved by as much as the series did.
NIGHTJAR_ENUM(ScreenVerdict, first_night, same, suspect_worse, suspect_better, unclear);
NIGHTJAR_ENUM(ConfirmationVerdict, worse, better, same, inconclusive, more);

// Stage one. `levels` are accepted levels of earlier nights, newest first, of which 14 are used;
// `tonight` holds the night's runs. It may be wrong, since stage two decides. Throws
// std::invalid_argument without runs, or for values that are not positive.
// `controls`: of the session that measured tonight. A change is suspicious if it is so as measured,
// and also less what each of them moved by, with its unrest as noise. Else it is unclear. So a
// control never makes a series suspicious.
struct Screen {
  using Verdict = ScreenVerdict;
  Verdict verdict = Verdict::same;
  double level = 0;      // tonight's Hodges-Lehmann location, as measured
  double reference = 0;  // the accepted level that it was compared with
  double change = 0;     // level / reference - 1, of judged values
  double z = 0;
};
Screen screen(std::span<const double> levels, std::span<const double> tonight,
              const DetectionPolicy& policy, std::span<const ControlReading> controls = {});

// Stage two judges runs of both builds, interleaved in the same sessions. `more` asks to measure
// until each side has `runs_a_side` (5, 10, 20, 40, 80, 120; steady metrics 3, 5, 10).
// It flags when the shift is at least the threshold and the lower bound is over half of it. One of
// three must hold as well: the interval is narrow; the lower bound is over twice the threshold,
// with at least 10 runs a side; or the runs are used up.
// Where the series cannot show the threshold, a smaller shift than `smallest_shown` must be proven:
// its lower bound must reach the threshold itself. Else it is inconclusive once the runs are used
// up.
// It drops when the upper bound is under the threshold, or the locations differ by less than the
// least change. `change` is bad/good in either direction, of judged values.
// Simulated: no false alarm in 4,200 series-nights at each CV.
struct Confirmation {
  using Verdict = ConfirmationVerdict;
  Verdict verdict = Verdict::more;
  Ratio change;
  int runs_a_side = 0;
  std::string rule;  // one sentence: why
};
// With RunsToCome::none the runs count as used up once there are as many as the ladder's first
// rung. So few say "worse" only if the interval is narrow, or lies over half the threshold at 99 %
// too. In 4,000 simulated comparisons of five runs a side at CV 20 % without a change, that left
// .15 % worse instead of .9 %.
enum class RunsToCome { more, none };
Confirmation confirm(std::span<const double> good, std::span<const double> bad,
                     const DetectionPolicy& policy, RunsToCome to_come = RunsToCome::more);

// Judges a `slope` metric, which has no ratio, by the difference of its locations. With fewer than
// 5 runs a side it is inconclusive. It is worse when the difference is at least `least` (in the
// metric's unit) and its interval over half of that. It is the same when the interval lies under
// `least`.
struct DifferenceVerdict {
  Confirmation::Verdict verdict = Confirmation::Verdict::inconclusive;
  Difference difference;
};
DifferenceVerdict judge_difference(std::span<const double> good, std::span<const double> bad,
                                   double least, double confidence = .95);

// A change over weeks that no single night shows. `levels`: newest first, tonight's included.
// Compares the newest 8 with the 8 oldest of the last 40. The Hodges-Lehmann shift must reach the
// threshold, and the permutation test of midranks that change points have must give p <= .0027.
// Both must hold already without tonight's level.
// `reference` is the index of the newest old level; stage two compares its build with tonight's.
// nullopt: no creep, or fewer than 17 levels.
struct Creep {
  std::size_t reference = 0;
  double before = 0, after = 0;
  double change = 0;  // after / before - 1, of judged values
  double z = 0;
};
std::optional<Creep> creep(std::span<const double> levels, const DetectionPolicy& policy);

}  // namespace nightjar::bisect
