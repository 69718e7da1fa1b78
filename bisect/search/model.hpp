// The model of the search: the terms of a run's log value, and the hypotheses.
//   y = mu + sum over steps k of D_k [commit beyond gap g_k] + u_wheel + d_session + b_build + e
// u is the wheel's effect: that of its origin, and one of its own. d is AR(1) over sessions, b the
// layout of a build, which is a commit on a wheel. e is normal with one-sided outliers. A gap lies
// between neighbouring measured commits. All logs are scaled so that the policy's threshold is
// log 1.07, to which the model's constants are tuned. Used inside `bisect/search` only.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "bisect/search.hpp"

namespace nightjar::bisect::search {

inline const double threshold_step = std::log1p(.07);
constexpr double least_step = .035;   // smaller steps (of logs) do not matter
constexpr double relative_step = .2;  // nor do those under this share of the largest
constexpr double outlier_mean = .20;
constexpr double session_correlation = .6;
constexpr int most_steps = 5;

constexpr double usual_layout = .003;  // sd between builds that should be alike

// Variances of logs. `outliers` is the share of outlying runs. `wheel` is between wheels of one
// origin, `origin` between origins.
struct Noise {
  double run = 0, outliers = .06, session = .015 * .015, layout = usual_layout * usual_layout;
  double wheel = 0, origin = 0;
};

// For each run, the probability that it is an outlier.
using Labels = std::vector<double>;

// A commit on a wheel. `rank` is the index of its commit among the measured ones, `wheel` that of
// its wheel among Data's; -1: wheels play no part.
struct MeasuredBuild {
  int rank = 0, wheel = -1;
  int number = -1;  // of the wheel in the log; -1: the log has no wheels
};

// A wheel that was measured: its number in the log, and that of its origin.
struct MeasuredWheel {
  int number = 0, origin = 0;
};

// The runs of one build in one session: y[first .. first + count).
struct Block {
  int session = 0, build = 0, first = 0, count = 0;
};

// The log in sorted form, so that equal evidence gives equal data in any order.
struct Data {
  double unit = 1;                      // the log values are divided by it
  bool of_inverses = false;             // as the policy says
  int searches = 1;                     // as the policy says
  std::vector<double> y;                // log values, centred on the good end's first session
  std::vector<Block> blocks;            // by build, then session
  std::vector<int> build_blocks;        // first block of each build; one more at the end
  std::vector<MeasuredBuild> measured;  // each build; by rank, then wheel
  std::vector<int> commits;             // measured commits, ascending: rank -> commit
  std::vector<MeasuredWheel> wheels;    // empty: wheels play no part
  double stretch = 1;        // of effects of origins, which do not shrink with the threshold
  std::vector<double> mass;  // prior mass of each gap
  Labels outlying;           // first guess, by the block's own median
  double outlier_sd = .10;   // of an outlier's excess
  int sessions = 0;          // numbered without holes
  int last_session = -1;     // the log's number of the newest one
  int in_session = 0;        // number of runs in it
  double first_sd = 0;       // prior guess of the runs' sd
  double end_change = 0;     // log of bad end over good end in their first sessions
  double known_runs = 2;     // pseudo-runs behind first_sd
  double claimed = 0;        // size of the step that is being confirmed; 0: any

  int builds() const { return static_cast<int>(measured.size()); }
  int gaps() const { return static_cast<int>(commits.size()) - 1; }
  int runs() const { return static_cast<int>(y.size()); }
  // Index of the wheel that has this number in the log; -1: it was not measured, or plays no part.
  int wheel_index(int number) const {
    for (std::size_t w = 0; w < wheels.size(); ++w)
      if (wheels[w].number == number) return static_cast<int>(w);
    return -1;
  }
};
// Both ends must have been measured. `apart`: wheels may differ. If not, all are taken to be alike,
// and each commit counts on the wheel that has most of its runs.
Data pack(const SearchLog& log, const SearchPolicy& policy, bool apart = true);
// Sets `outlying`: a run far above the median of its block is probably an outlier.
void guess_outliers(Data& data);

enum class Kind { nothing, small, better, steps };

// `odd`: a wheel that differs from others of its origin by more than chance; -1: none does.
struct Hypothesis {
  Kind kind = Kind::nothing;
  int count = 0;
  std::array<int, most_steps> gaps{};  // ascending
  int odd = -1;

  bool has(int gap) const {
    for (int k = 0; k < count; ++k) {
      if (gaps[static_cast<std::size_t>(k)] == gap) return true;
    }
    return false;
  }
};

// Prior of the sizes of a hypothesis' steps: normal, cut off at least_step on one or both sides.
struct StepPrior {
  double mean = 0, sd = 1;
  bool upward = false, downward = false;  // neither: not cut off
};
StepPrior step_prior(const Hypothesis& hypothesis, const Data& data);
double log_prior(const Hypothesis& hypothesis, const Data& data);

// Log of the share of the normal N(mean, sd^2) that `prior` allows.
double log_allowed(const StepPrior& prior, double mean, double sd);
double upper_tail(double z);

}  // namespace nightjar::bisect::search
