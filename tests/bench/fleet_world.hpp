// A world of series on shared machines, and what the service keeps and decides of one. Used by the
// benches of fleets and of neighbours.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bisect/calibration.hpp"
#include "bisect/control.hpp"
#include "bisect/fleet.hpp"
#include "bisect/noise_class.hpp"
#include "tests/bench/neighbours.hpp"

namespace nightjar::test {

using namespace nightjar::bisect;

inline constexpr int usual_runs = 5, nights_of_level = 14, series_a_machine = 500;

// What is measured of many real series, as points of its distribution.
struct Quantile {
  double share, value;
};
inline double drawn(std::span<const Quantile> points, double share) {
  std::size_t i = 1;
  while (points[i].share < share) ++i;
  const auto [from, low] = points[i - 1];
  const auto [to, high] = points[i];
  return low * std::pow(high / low, (share - from) / (to - from));
}
// Quantiles of 435 series of a C++ database; the ends are assumed.
inline constexpr Quantile spread_quantiles[] = {{0, .004},  {.25, .011}, {.5, .017}, {.75, .032},
                                                {.9, .052}, {.95, .10},  {1, .20}};
inline constexpr Quantile outlier_quantiles[] = {{0, .001}, {.5, .008}, {.9, .05}, {1, .15}};

// A machine class. All its series share its nights.
struct Machine {
  double spread = .007;  // of its drift
  double drift = 0, slow = 0;

  void next_night(Random& random) {
    constexpr double rho = .8;
    drift = rho * drift + std::sqrt(1 - rho * rho) * spread * random.normal();
    slow = random.happens(.02) ? random.between(.02, .10) : 0;
  }
};

struct SeriesTraits {
  double cv = .03, layout = .003, outliers = .05, drift = .007;
  bool heavy = false;
  double spells = .005;  // chance of one to begin in a night
  double bursts = .03;   // chance of one in a session
  bool neighbours = false;
};

inline constexpr double largest_layout_effect = .0098;
inline constexpr double control_spread = .003;  // of runs of the control

// What the benches are asked to play. Unknown options are left out.
struct Options {
  int series = 5000, nights = 30, jobs = 1000;  // jobs: series with a step
  double largest_layout = largest_layout_effect;
  std::string file;  // the document whose figures are to be these
};
inline Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--series") options.series = std::atoi(arguments[i + 1]);
    if (name == "--nights") options.nights = std::atoi(arguments[i + 1]);
    if (name == "--jobs") options.jobs = std::atoi(arguments[i + 1]);
    if (name == "--layout") options.largest_layout = std::atof(arguments[i + 1]);
    if (name == "--write") options.file = arguments[i + 1];
  }
  return options;
}

inline SeriesTraits drawn_traits(Random& random, double largest_layout = largest_layout_effect) {
  const Quantile layouts[] = {{0, .0005},
                              {.5, .0023},
                              {.75, .0052},
                              {.9, largest_layout_effect},
                              {1, std::max(largest_layout_effect, largest_layout)}};
  SeriesTraits traits;
  traits.cv = drawn(spread_quantiles, random.uniform());
  traits.layout = drawn(layouts, random.uniform());
  traits.outliers = drawn(outlier_quantiles, random.uniform());
  traits.heavy = random.happens(.1);
  return traits;
}

// One series; night n measures build n.
class Series {
 public:
  Series(const SeriesTraits& traits, std::uint64_t seed)
      : traits_(traits),
        random_(seed),
        neighbours_(seed ^ 0x5bd1e995u),
        control_(seed ^ 0x2545f491u) {}

  void next_night(const Machine& machine) {
    constexpr double rho = .8;
    drift_ = rho * drift_ + std::sqrt(1 - rho * rho) * traits_.drift * random_.normal();
    if (spell_nights_ > 0) {
      --spell_nights_;
    } else if (random_.happens(traits_.spells)) {
      spell_ = random_.between(.02, .15);
      spell_nights_ = static_cast<int>(std::ceil(-5 * std::log(1 - random_.uniform())));
    }
    machine_ = machine.drift + machine.slow;
    night_ = drift_ + machine_ + (spell_nights_ > 0 ? spell_ : 0);
    if (traits_.neighbours) neighbours_.next_night();
    build_ = step_ + traits_.layout * random_.normal();
  }
  void step(double effect) { step_ += std::log1p(effect); }
  double build() const { return build_; }

  // In some sessions something else runs for a while.
  void begin_session(int runs) {
    burst_from_ = burst_to_ = 0;
    run_ = 1;  // between two runs of the control
    runs_ = runs;
    if (traits_.neighbours) neighbours_.begin_session(runs + 2);
    if (!random_.happens(traits_.bursts)) return;
    burst_from_ = static_cast<int>(random_.between(0, runs));
    burst_to_ = burst_from_ + static_cast<int>(random_.between(2, 9));
    burst_ = random_.between(.05, .20);
  }
  // The control workload at both ends of the session, in seconds. No build changes it.
  std::array<double, 2> control() {
    const auto at = [&](int run) {
      const double y = machine_ + control_spread * control_.normal();
      return std::exp(traits_.neighbours ? y + neighbours_.of_control(run) : y);
    };
    const double before = at(0);
    return {before, at(runs_ + 1)};
  }
  double run(double build) {
    double y = night_ + build + traits_.cv * (traits_.heavy ? random_.heavy() : random_.normal());
    if (random_.happens(traits_.outliers)) y += std::log(1.10 + .20 * random_.uniform());
    if (run_ > burst_from_ && run_ <= burst_to_) y += burst_;
    if (traits_.neighbours) y += neighbours_.of_run(run_);
    ++run_;
    return std::exp(y);
  }

 private:
  SeriesTraits traits_;
  Random random_;
  Neighbours neighbours_;
  Random control_;
  double machine_ = 0;
  double drift_ = 0, spell_ = 0, night_ = 0, build_ = 0, step_ = 0, burst_ = 0;
  int spell_nights_ = 0, burst_from_ = 0, burst_to_ = 0, run_ = 0, runs_ = 0;
};

template <class T>
void push_newest(std::vector<T>& all, T value, std::size_t most) {
  all.insert(all.begin(), std::move(value));
  if (all.size() > most) all.pop_back();
}

// What the service keeps of a series.
struct Watched {
  bool reads_control = true;
  std::vector<EarlierControl> controls;     // newest first
  std::vector<double> levels;               // newest first
  std::vector<std::vector<double>> builds;  // newest first
  double good = 0;                          // the build of the newest level
  SeriesNoise noise;
  DetectionPolicy policy;
  Scatter scatter;
  Screen seen;

  void look(Series& series, const DetectionPolicy& configured, std::vector<double>& tonight) {
    const int runs = runs_a_night(noise.kind, usual_runs);
    tonight.clear();
    series.begin_session(runs);
    for (int i = 0; i < std::max(runs, usual_runs); ++i)
      tonight.push_back(series.run(series.build()));
    const auto used = std::span(tonight).first(static_cast<std::size_t>(runs));
    policy = adapted(configured, noise);
    scatter = {noise.sd, nights_sd(levels, policy), runs};
    if (noise.sd > 0) policy = with_smallest_shown(policy, scatter);
    seen = screen(levels, used, policy, read(series.control()));
    push_newest(builds, std::vector<double>(used.begin(), used.end()), nights_of_level);
  }
  bool unclear() const { return seen.verdict == ScreenVerdict::unclear; }  // and makes no level
  void learn() { noise = series_noise(builds); }
  void accept(double level, double build) {
    push_newest(levels, level, nights_of_level);
    good = build;
  }

 private:
  std::vector<ControlReading> read(const std::array<double, 2>& control) {
    if (!reads_control) return {};
    const ControlReading reading = read_control(Gauge::cpu, control, controls).value();
    push_newest(controls, {NightId{++night_}, Gauge::cpu, median(control), reading.within},
                nights_of_level);
    return {reading};
  }

  int night_ = 0;
};

struct Confirmed {
  bool by_rule = false, by_bar = false;
  double runs_by_rule = 0, runs_by_bar = 0;
  std::optional<double> level;  // of the new build, unless the end is unclear
};

// Stage two, in one session for each rung.
inline Confirmed confirm_in_turns(Series& series, const Watched& watched, const NightBar& bar) {
  Confirmed out;
  std::vector<double> good, bad;
  const double builds[] = {watched.good, series.build()};
  bool rule_decided = false;
  for (int want = 0;;) {
    const int have = static_cast<int>(good.size());
    if (want > have) series.begin_session(2 * (want - have));
    for (int i = have; i < want; ++i)
      for (int side = 0; side < 2; ++side) {
        const int which = i % 2 == 0 ? side : 1 - side;
        (which == 0 ? good : bad).push_back(series.run(builds[which]));
      }
    const double runs = static_cast<double>(good.size() + bad.size());
    const FleetConfirmation said = confirm(good, bad, watched.policy, bar);
    using enum Confirmation::Verdict;
    if (!rule_decided) {
      const Confirmation::Verdict rule = confirm(good, bad, watched.policy).verdict;
      rule_decided = rule != more;
      out.by_rule = rule == worse;
      out.runs_by_rule = runs;
    }
    if (said.confirmation.verdict != more) {
      out.by_bar = said.confirmation.verdict == worse;
      out.runs_by_bar = runs;
      if (said.confirmation.verdict != inconclusive) out.level = hodges_lehmann(bad);
      return out;
    }
    want = said.confirmation.runs_a_side;
  }
}

}  // namespace nightjar::test
