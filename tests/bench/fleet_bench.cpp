// A fleet of series that nothing happens to, and what each detector says of it: false findings in
// 30 nights, and what confirming costs in runs a night. Then how often a step is seen on its first
// night under that fleet's bar. Noise is correlated: series share machines, machines drift and have
// slow nights, series have slow spells, and sessions have bursts. The control is not read: what
// that adds, neighbours_bench shows. Fixed seeds, one core. fleet_bench [--series N] [--nights N]
// [--jobs N] [--layout SD] [--write FILE]. SD: of the builds of the most restless series (.0098:
// the 90th percentile of what was measured, for a tenth of them). FILE: the document whose figures
// are to be these. 50,000 series and 30 nights take two minutes; 365 nights, which the document
// has, take 25.
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bisect/calibration.hpp"
#include "tests/bench/fleet_world.hpp"
#include "tests/support/figures.hpp"

using namespace nightjar::bisect;
using namespace nightjar::test;

namespace {

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}
double square_sum(std::span<const double> values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += std::pow(value - middle, 2);
  return sum;
}
double student_p(double t, double free) {
  return boost::math::cdf(boost::math::complement(boost::math::students_t(free), std::abs(t)));
}

// What others make of the first five runs of each night.
struct Rivals {
  std::vector<double> levels, window, last;  // newest first; window: logs, oldest first

  struct Alarms {
    bool fixed = false, otava = false, voting = false;
  };
  Alarms judge(std::span<const double> runs) {
    Alarms out;
    const double now = median(runs);
    if (!levels.empty()) out.fixed = now / median(levels) > 1.07;
    out.otava = otava(std::log(now));
    out.voting = out.fixed + out_of_quartiles(now) + differs_from_last(runs) >= 2;
    push_newest(levels, now, nights_of_level);
    last.assign(runs.begin(), runs.end());
    return out;
  }
  // A t-test at p < .001 for every split of a window of 50, as Otava's.
  bool otava(double now) {
    window.push_back(now);
    if (window.size() > 50) window.erase(window.begin());
    const std::span all(window);
    for (std::size_t split = 3; split < all.size(); ++split) {
      const auto before = all.first(split), after = all.subspan(split);
      const double n = static_cast<double>(split), m = static_cast<double>(after.size());
      const double variance = (square_sum(before) + square_sum(after)) / (n + m - 2);
      const double t = (mean(after) - mean(before)) / std::sqrt(variance * (1 / n + 1 / m));
      if (2 * student_p(t, n + m - 2) >= .001) continue;
      window.erase(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(split));
      return t > 0;
    }
    return false;
  }
  // As rustc-perf's: over the third quartile by three times the quartiles' distance.
  bool out_of_quartiles(double now) const {
    if (levels.size() < nights_of_level) return false;
    std::vector<double> sorted(levels);
    std::sort(sorted.begin(), sorted.end());
    const double low = sorted[sorted.size() / 4], high = sorted[sorted.size() * 3 / 4];
    return now > high + 3 * (high - low);
  }
  bool differs_from_last(std::span<const double> runs) const {
    if (last.empty()) return false;
    const double a = square_sum(last) / 20, b = square_sum(runs) / 20;  // squares of errors
    const double free = std::pow(a + b, 2) / (a * a / 4 + b * b / 4);
    const double t = (mean(runs) - mean(last)) / std::sqrt(a + b);
    return t > 0 && 2 * student_p(t, free) < .001;
  }
};

struct Tally {
  double one_run = 0, fixed = 0, otava = 0, voting = 0, by_rule = 0, by_bar = 0;
  double suspects = 0, most_suspects = 0, runs_by_rule = 0, runs_by_bar = 0, screened = 0;
};

class Fleet {
 public:
  explicit Fleet(const Options& options)
      : random_(7),
        machines_(static_cast<std::size_t>(std::max(1, options.series / series_a_machine))) {
    for (int i = 0; i < options.series; ++i)
      series_.emplace_back(drawn_traits(random_, options.largest_layout),
                           static_cast<std::uint64_t>(i) * 2654435761u + 17);
    watched_.resize(series_.size());
    for (Watched& watched : watched_) watched.reads_control = false;
    rivals_.resize(series_.size());
  }

  void night(bool counts) {
    Tally& out = tally;
    std::vector<std::vector<std::size_t>> worse(machines_.size()), moved(machines_.size());
    for (Machine& machine : machines_) machine.next_night(random_);
    std::vector<double> tonight;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      Series& series = series_[i];
      series.next_night(machines_[machine_of(i)]);
      Watched& watched = watched_[i];
      watched.look(series, {}, tonight);
      if (counts) out.screened += static_cast<double>(watched.builds.front().size());
      const double before = rivals_[i].last.empty() ? 0 : rivals_[i].last.front();
      const auto alarms = rivals_[i].judge(std::span(tonight).first(usual_runs));
      if (counts) {
        out.one_run += before > 0 && tonight.front() / before > 1.07;
        out.fixed += alarms.fixed;
        out.otava += alarms.otava;
        out.voting += alarms.voting;
      }
      if (nights_ % 5 == static_cast<int>(i % 5)) watched.learn();
      const bool up = watched.seen.verdict == ScreenVerdict::suspect_worse;
      if (up) worse[machine_of(i)].push_back(i);
      if (up || watched.seen.verdict == ScreenVerdict::suspect_better)
        moved[machine_of(i)].push_back(i);
      if (!up) watched.accept(watched.seen.level, series.build());
    }
    confirm_all(worse, moved, counts);
    ++nights_;
  }

  Tally tally;

 private:
  std::size_t machine_of(std::size_t series) const { return series % machines_.size(); }

  void confirm_all(std::vector<std::vector<std::size_t>>& worse,
                   const std::vector<std::vector<std::size_t>>& moved, bool counts) {
    NightBar bar;
    bar.suspects = 0;
    std::vector<std::vector<std::size_t>> held(machines_.size());
    for (std::size_t m = 0; m < machines_.size(); ++m) {
      auto& all = worse[m];
      if (moved[m].size() >= series_.size() / machines_.size() / 2 && all.size() > 3) {
        std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
          return watched_[a].seen.z > watched_[b].seen.z;
        });
        held[m].assign(all.begin() + 3, all.end());
        all.resize(3);
      }
      bar.suspects += static_cast<int>(all.size());
    }
    if (counts) {
      tally.suspects += bar.suspects;
      tally.most_suspects = std::max(tally.most_suspects, static_cast<double>(bar.suspects));
    }
    for (std::size_t m = 0; m < machines_.size(); ++m) {
      bool any = false;
      for (const std::size_t i : worse[m]) {
        const Confirmed said = confirm_in_turns(series_[i], watched_[i], bar);
        any = any || said.by_bar;
        bar.confirmed += said.by_bar;
        if (said.level) watched_[i].accept(*said.level, series_[i].build());
        if (!counts) continue;
        tally.by_rule += said.by_rule;
        tally.by_bar += said.by_bar;
        tally.runs_by_rule += said.runs_by_rule;
        tally.runs_by_bar += said.runs_by_bar;
      }
      if (any) continue;
      for (const std::size_t i : held[m]) {  // the machine moved: levels start over
        watched_[i].levels.clear();
        watched_[i].accept(watched_[i].seen.level, series_[i].build());
      }
    }
  }

  Random random_;
  std::vector<Machine> machines_;
  std::vector<Series> series_;
  std::vector<Watched> watched_;
  std::vector<Rivals> rivals_;
  int nights_ = 0;
};

// A step of one series on its first night, with the bar of a night with that number of suspects.
struct Step {
  const char* name;
  double effect;
  DetectionPolicy policy;
  SeriesTraits traits;
};

std::string share_text(int hits, int cases) {
  const Interval interval = binomial_interval(hits, cases, .95);
  return formatted(" %.4f [%.4f, %.4f] |", static_cast<double>(hits) / cases, interval.low,
                   interval.high);
}

std::string play(const Step& step, int jobs, int suspects) {
  int fixed = 0, otava = 0, voting = 0, screened = 0, by_rule = 0, by_bar = 0;
  double runs_by_rule = 0, runs_by_bar = 0;
  std::vector<double> tonight;
  for (int job = 0; job < jobs; ++job) {
    Random random(static_cast<std::uint64_t>(job) * 40503u + 3);
    Machine machine{.spread = step.traits.drift};
    Series series(step.traits, static_cast<std::uint64_t>(job) * 2654435761u + 99);
    Watched watched;
    watched.reads_control = false;
    Rivals rivals;
    Rivals::Alarms alarms;
    for (int night = 0; night <= 20; ++night) {
      machine.next_night(random);
      machine.slow = 0;
      if (night == 20) series.step(step.effect);
      series.next_night(machine);
      watched.look(series, step.policy, tonight);
      alarms = rivals.judge(std::span(tonight).first(usual_runs));
      watched.learn();
      if (night < 20) watched.accept(watched.seen.level, series.build());
    }
    fixed += alarms.fixed;
    otava += alarms.otava;
    voting += alarms.voting;
    if (watched.seen.verdict != ScreenVerdict::suspect_worse) continue;
    ++screened;
    const Confirmed said = confirm_in_turns(series, watched, {1. / 30, suspects, 0});
    by_rule += said.by_rule;
    by_bar += said.by_bar;
    runs_by_rule += said.runs_by_rule;
    runs_by_bar += said.runs_by_bar;
  }
  std::string line = formatted("| %s |", step.name);
  for (const int hits : {fixed, otava, voting, by_rule, by_bar}) line += share_text(hits, jobs);
  const int measured = std::max(1, screened);
  return line + formatted(" %.0f / %.0f |\n", runs_by_rule / measured, runs_by_bar / measured);
}

std::vector<Step> steps() {
  std::vector<Step> out;
  SeriesTraits plain;
  plain.spells = 0;
  plain.cv = .01;
  out.push_back({"+10 %, CV 1 %", .10, {}, plain});
  plain.cv = .03;
  out.push_back({"+10 %, CV 3 %", .10, {}, plain});
  // A metric that repeats as the time of a device's kernels does, and its threshold.
  DetectionPolicy kernels;
  kernels.threshold = .005;
  kernels.screen_change = .0025;
  kernels.interval_points = .005;
  SeriesTraits steady{.cv = .0025, .layout = .0003, .outliers = .01, .drift = .0007};
  steady.spells = steady.bursts = 0;
  out.push_back({"+1 %, CV 0.25 %, threshold 0.5 %", .01, kernels, steady});
  return out;
}

// A row of the first table: alarms in all nights, as those of 30 nights with their interval.
std::string alarm_row(const char* name, double alarms, double runs, const Options& options) {
  const int cases = options.series * options.nights;
  const Interval interval = binomial_interval(static_cast<int>(alarms), cases, .95);
  const double month = 30. * options.series;
  const int digits = alarms < 100 ? 2 : 0;
  return formatted("| %s | %.*f [%.*f, %.*f] | %.0f |\n", name, digits, month * alarms / cases,
                   digits, month * interval.low, digits, month * interval.high,
                   runs / options.nights);
}

std::string fleet_table(const Tally& tally, const Options& options) {
  std::string table = formatted(
      "%d series that nothing happens to, %d nights, %.0f screened runs a night; false findings "
      "in 30 nights with their 95 %% interval:\n\n"
      "| detector | false findings in 30 nights | runs of confirmations a night |\n|---|---|---|\n",
      options.series, options.nights, tally.screened / options.nights);
  table += alarm_row("one run against one, > 7 %", tally.one_run, 0, options);
  table += alarm_row("median of 5, trailing 14, > 7 %", tally.fixed, 0, options);
  table += alarm_row("Otava-like on nightly medians", tally.otava, 0, options);
  table += alarm_row("voting, two of three", tally.voting, 0, options);
  table += alarm_row("two stages, no bar", tally.by_rule, tally.runs_by_rule, options);
  table +=
      alarm_row("**two stages under the night's bar**", tally.by_bar, tally.runs_by_bar, options);
  return table;
}

std::string steps_table(const Tally& tally, const Options& options) {
  const int suspects = std::max(1, static_cast<int>(tally.most_suspects));
  std::string table = formatted(
      "\nThe fleet has %.0f suspects a night, %d at most. Steps seen on their first night under "
      "that night's bar, %d series a row:\n\n"
      "| step | > 7 %% | Otava-like | voting | two stages, no bar | **under the bar** | runs to "
      "confirm |\n|---|---|---|---|---|---|---|\n",
      tally.suspects / options.nights, suspects, options.jobs);
  for (const Step& step : steps()) table += play(step, options.jobs, suspects);
  return table;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  Fleet fleet(options);
  for (int night = 0; night < nights_of_level; ++night) fleet.night(false);
  for (int night = 0; night < options.nights; ++night) fleet.night(true);
  const std::string table = fleet_table(fleet.tally, options) + steps_table(fleet.tally, options);
  std::fputs(table.c_str(), stdout);
  if (!options.file.empty()) nightjar::test::write_figures(options.file, "fleet", table);
  return 0;
}
