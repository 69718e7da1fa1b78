// Is tonight worse? Two stages: a cheap screen against the accepted level, then interleaved A/B
// runs until the answer is clear. Pure; used by the service's analysis and by `nightjar
// detect`/`compare`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::bisect {

// "Worse by x" is the ratio after/before for a metric where lower is better, and before/after
// otherwise. `slope` metrics have no meaningful ratio: they are recorded, and never flagged here.
struct DetectionPolicy {
  double threshold = .07;      // a change to flag, as a share
  double screen_change = .03;  // stage one: suspicious from here
  double screen_z = 1.5;
  double interval_points = .05;  // stage two: clear when the interval is narrower
  double confidence = .95;
  Direction direction = Direction::lower_is_better;
  Repeatability repeatability = Repeatability::noisy;
};

// Stage one. `levels`: accepted levels of earlier nights, newest first (14 are looked at);
// `tonight`: the night's runs. Cheap and allowed to be wrong: stage two decides. Throws
// std::invalid_argument without runs, or for values that are not positive.
struct Screen {
  enum class Verdict { first_night, same, suspect_worse, suspect_better };
  Verdict verdict = Verdict::same;
  double level = 0;      // tonight's Hodges-Lehmann location
  double reference = 0;  // the accepted level it was held against
  double change = 0;     // level / reference - 1
  double z = 0;
};
Screen screen(std::span<const double> levels, std::span<const double> tonight,
              const DetectionPolicy& policy);

// Stage two. Runs of both builds, interleaved in the same sessions. `more`: measure until each side
// has `runs_a_side` (5, 10, 20, 40, 80, 120; steady metrics 3, 5, 10). Flags when the shift is at
// least the threshold, the lower bound over half of it, and the interval narrow, the lower bound
// over twice the threshold (from 10 runs a side), or the runs used up; drops when the upper bound
// is under the threshold. `change` is bad/good whatever the direction. Simulated: no false alarm in
// 4,200 series-nights a CV.
struct Confirmation {
  enum class Verdict { worse, better, same, inconclusive, more };
  Verdict verdict = Verdict::more;
  Ratio change;
  int runs_a_side = 0;
  std::string rule;  // one sentence: why
};
// With RunsToCome::none the runs there are count as used up from the least of the ladder on; so few
// say "worse" only if the interval is narrow or lies over half the threshold at 99 %, too: in 4,000
// simulated comparisons of five runs a side at CV 20 % without a change, .15 % were worse instead
// of .9 %.
enum class RunsToCome { more, none };
Confirmation confirm(std::span<const double> good, std::span<const double> bad,
                     const DetectionPolicy& policy, RunsToCome to_come = RunsToCome::more);

// Of a `slope` metric, which has no ratio: worse, same, better or inconclusive by the difference of
// its locations, from 5 runs a side on. Worse when it is at least `least` (the metric's unit) and
// its interval over half of that; same when the interval lies under `least`.
struct DifferenceVerdict {
  Confirmation::Verdict verdict = Confirmation::Verdict::inconclusive;
  Difference difference;
};
DifferenceVerdict judge_difference(std::span<const double> good, std::span<const double> bad,
                                   double least, double confidence = .95);

// The slow path: a creep that no single night shows. `levels`: newest first, tonight's included.
// The newest 8 against the 8 oldest of the last 40: Hodges-Lehmann shift of at least the threshold,
// Mann-Whitney z over 3, and so already without tonight's. `reference`: index of the newest of the
// old levels, whose build stage two is to compare with tonight's. nullopt: no creep, or fewer than
// 17 levels.
struct Creep {
  std::size_t reference = 0;
  double before = 0, after = 0;
  double change = 0;  // after / before - 1
  double z = 0;
};
std::optional<Creep> creep(std::span<const double> levels, const DetectionPolicy& policy);

// Change points of a whole series (`nightjar detect`): values a position, in order of position.
// Works on position medians, never on raw runs, which are not independent: windows of 8, 16 and 32
// positions a side, Mann-Whitney z > 3, Hodges-Lehmann shift over the threshold and over the
// scatter of positions, p corrected for every split that was looked at, and the new level must
// persist.
struct Position {
  long long position = 0;
  std::vector<double> runs;
};
struct Change {
  long long position = 0;  // the first of the new level
  bool worse = false;
  double before = 0, after = 0;
  Ratio ratio;
};
std::vector<Change> change_points(std::span<const Position> series, const DetectionPolicy& policy);

// The shortest levels that `change_points` sees at the start and at the end of a series, however
// large the change and small the noise: `first` positions stand before its first change, `last`
// from its last change on (all of them, if it has none). 0: however long the level, no such change
// is seen.
struct ShortestLevels {
  int start = 0, end = 0;
};
ShortestLevels shortest_levels(int positions, int first, int last);
// The number of positions from which on any change is seen at all.
int shortest_series();

}  // namespace nightjar::bisect
