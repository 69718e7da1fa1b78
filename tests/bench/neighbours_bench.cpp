// What neighbours on a shared node do to a night's verdicts: false findings of a fleet of 50,000
// series that nothing happens to, and the power at the smallest change that a series is said to
// show. Beside it the same series on a quiet node, and a screen that does not read the control.
// Fixed seeds, two cores.
// neighbours_bench [--series N] [--nights N] [--jobs N] [--write FILE]. The series are a sample:
// each is judged under the bar of the whole fleet. FILE: the document whose figures are to be
// these.
#include <cmath>
#include <cstdio>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/bench/fleet_world.hpp"
#include "tests/support/figures.hpp"

using namespace nightjar::test;

namespace {

constexpr int fleet_series = 50000;
constexpr double nights_a_month = 30.;

struct Tally {
  double suspects = 0, most_suspects = 0, unclear = 0, runs = 0, not_shown = 0;
  int by_half = 0, found = 0;  // false findings; by_half: without the rule for small changes
};

// A sample of the fleet. No machine has slow nights here: fleet_bench has them.
class Sample {
 public:
  Sample(const Options& options, bool neighbours, bool reads_control)
      : options_(options), random_(7) {
    for (int i = 0; i < options.series; ++i) {
      SeriesTraits traits = drawn_traits(random_);
      traits.neighbours = neighbours;
      series_.emplace_back(traits, static_cast<std::uint64_t>(i) * 2654435761u + 17);
    }
    watched_.resize(series_.size());
    for (Watched& watched : watched_) watched.reads_control = reads_control;
    machines_.resize(static_cast<std::size_t>(std::max(1, options.series / series_a_machine)));
    for (int night = 0; night < nights_of_level; ++night) play(nullptr);
    for (int night = 0; night < options.nights; ++night) play(&tally);
  }

  Tally tally;

 private:
  void play(Tally* out) {
    for (Machine& machine : machines_) {
      machine.next_night(random_);
      machine.slow = 0;
    }
    std::vector<std::size_t> suspects;
    double unclear = 0;
    std::vector<double> tonight;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      Watched& watched = watched_[i];
      series_[i].next_night(machines_[i % machines_.size()]);
      watched.look(series_[i], {}, tonight);
      if (nights_ % 5 == static_cast<int>(i % 5)) watched.learn();
      if (out) out->not_shown += watched.policy.smallest_shown > 0;
      if (watched.seen.verdict == ScreenVerdict::suspect_worse)
        suspects.push_back(i);
      else if (watched.unclear())
        unclear += out != nullptr;
      else
        watched.accept(watched.seen.level, series_[i].build());
    }
    ++nights_;
    const int others = fleet_series / options_.series;
    const int all = static_cast<int>(suspects.size()) * others;
    for (const std::size_t i : suspects) confirm_one(i, {1. / 30, std::max(1, all), 0}, out);
    if (!out) return;
    out->unclear += unclear * others;
    out->suspects += all;
    out->most_suspects = std::max(out->most_suspects, static_cast<double>(all));
  }

  void confirm_one(std::size_t i, const NightBar& bar, Tally* out) {
    Series twin = series_[i];  // the same runs, judged without the rule
    Watched plain = watched_[i];
    plain.policy.smallest_shown = 0;
    const Confirmed said = confirm_in_turns(series_[i], watched_[i], bar);
    if (said.level) watched_[i].accept(*said.level, series_[i].build());
    if (!out) return;
    out->by_half += watched_[i].policy.smallest_shown > 0
                        ? confirm_in_turns(twin, plain, bar).by_bar
                        : said.by_bar;
    out->found += said.by_bar;
    out->runs += said.runs_by_bar;
  }

  Options options_;
  Random random_;
  std::vector<Series> series_;
  std::vector<Watched> watched_;
  std::vector<Machine> machines_;
  int nights_ = 0;
};

std::string month_text(int found, const Options& options) {
  const int cases = options.series * options.nights;
  const Interval interval = binomial_interval(found, cases, .95);
  const double month = nights_a_month * fleet_series;
  return formatted(" %.2f [%.2f, %.2f] |", month * found / cases, month * interval.low,
                   month * interval.high);
}

std::string fleet_row(const char* name, const Tally& tally, const Options& options) {
  return formatted("| %s | %.3f | %.0f | %.0f | %.0f |", name,
                   tally.not_shown / options.series / options.nights,
                   tally.suspects / options.nights, tally.unclear / options.nights,
                   tally.runs / options.nights * fleet_series / options.series) +
         month_text(tally.by_half, options) + month_text(tally.found, options) + "\n";
}

struct Power {
  int seen = 0, cases = 0;
  int by_half = 0;    // seen without the rule for small changes
  double change = 0;  // the median of the series
};

// Each series gets worse once 20 nights are known: by `step`, or without one by what it is said to
// show.
Power power(const SeriesTraits& traits, int suspects, int jobs,
            std::optional<double> step = std::nullopt, bool reads_control = true) {
  Power out;
  std::vector<double> tonight, changes;
  for (int job = 0; job < jobs; ++job) {
    Random random(static_cast<std::uint64_t>(job) * 40503u + 3);
    Machine machine;
    Series series(traits, static_cast<std::uint64_t>(job) * 2654435761u + 99);
    Watched watched;
    watched.reads_control = reads_control;
    for (int night = 0; night <= 20; ++night) {
      machine.next_night(random);
      machine.slow = 0;
      if (night == 20) {
        watched.scatter.nights_sd = nights_sd(watched.levels, watched.policy);
        changes.push_back(smallest_seen(watched.scatter, watched.policy));
        series.step(step.value_or(changes.back()));
      }
      series.next_night(machine);
      watched.look(series, {}, tonight);
      watched.learn();
      if (night < 20 && !watched.unclear()) watched.accept(watched.seen.level, series.build());
    }
    ++out.cases;
    if (watched.seen.verdict != ScreenVerdict::suspect_worse) continue;
    Series twin = series;
    Watched plain = watched;
    plain.policy.smallest_shown = 0;
    out.seen += confirm_in_turns(series, watched, {1. / 30, suspects, 0}).by_bar;
    out.by_half += confirm_in_turns(twin, plain, {1. / 30, suspects, 0}).by_bar;
  }
  out.change = median(changes);
  return out;
}

std::string power_text(const Power& power) {
  const Interval interval = binomial_interval(power.seen, power.cases, .95);
  return formatted(" +%.1f %% | %.3f [%.3f, %.3f] |", 100 * power.change,
                   static_cast<double>(power.seen) / power.cases, interval.low, interval.high);
}

std::string power_row(const char* name, SeriesTraits traits, int quiet_suspects, int suspects,
                      int jobs) {
  const Power quiet = power(traits, quiet_suspects, jobs);
  traits.neighbours = true;
  const Power unread = power(traits, suspects, jobs, std::nullopt, false),
              shared = power(traits, suspects, jobs);
  const double share = static_cast<double>(shared.seen) / std::max(1, quiet.seen);
  return formatted("| %s |", name) + power_text(quiet) + power_text(unread) + power_text(shared) +
         formatted(" %.2f |\n", share);
}

// Series whose nights scatter by 3.5 % cannot show 7 %. Steps below and over what they show.
std::string small_steps_table(int suspects, int jobs) {
  SeriesTraits traits;
  traits.spells = 0;
  traits.drift = .035;
  traits.cv = .015;
  traits.neighbours = true;
  std::string text;
  for (const double step : {0., .05, .06, .07, .08, .09, .15}) {
    const Power found = power(traits, suspects, jobs, step);
    if (text.empty())
      text = formatted(
          "\nThe same with neighbours, for series whose nights scatter by 3.5 %% (smallest change "
          "+%.1f %%), %d a row; named on the first night:\n\n"
          "| true step | without the rule | **with the rule** |\n"
          "|---|---|---|\n",
          100 * found.change, jobs);
    text += formatted("| +%.0f %% | %.3f | %.3f |\n", 100 * step,
                      static_cast<double>(found.by_half) / found.cases,
                      static_cast<double>(found.seen) / found.cases);
  }
  return text;
}

// Runs of two builds that do not differ. Run i of both is a pair.
struct Sides {
  std::vector<double> good, bad;

  void add(int pair, double first, double second) {  // which is first alternates
    good.push_back(std::exp(pair % 2 == 0 ? first : second));
    bad.push_back(std::exp(pair % 2 == 0 ? second : first));
  }
  double shifted() const { return std::log(shift(good, bad, .95).ratio); }
  double shifted_in_pairs() const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < good.size(); ++i) ratios.push_back(bad[i] / good[i]);
    return std::log(hodges_lehmann(ratios));
  }
};

double root_mean_square(std::span<const double> errors) {
  double squares = 0;
  for (const double error : errors) squares += error * error;
  return std::sqrt(squares / static_cast<double>(errors.size()));
}

// The error of a shift by as many runs: one after the other on one device, or a pair at once on two
// devices of the node, which swap (a duet).
std::string duet_row(double cv, int pairs, int jobs) {
  constexpr double devices_differ = .003, outliers = .05;
  std::vector<double> in_turns, duet, duet_in_pairs;
  for (int job = 0; job < jobs; ++job) {
    Random random(static_cast<std::uint64_t>(job) * 977 + 5);
    Neighbours device(static_cast<std::uint64_t>(job) * 31 + 7), other = device;
    const double beside = devices_differ * random.normal();
    const auto measured = [&](double slowed) {
      const double outlier = random.happens(outliers) ? random.between(.1, .25) : 0;
      return slowed + cv * random.normal() + outlier;
    };
    Sides one_by_one, at_once;
    device.begin_session(2 * pairs);
    for (int i = 0; i < pairs; ++i) {
      const double first = measured(device.of_run(2 * i));
      one_by_one.add(i, first, measured(device.of_run(2 * i + 1)));
    }
    device.begin_session(pairs);
    other.begin_session_beside(device, pairs);
    for (int i = 0; i < pairs; ++i) {
      const double first = measured(device.of_run(i));
      at_once.add(i, first, beside + measured(other.of_run(i)));
    }
    in_turns.push_back(one_by_one.shifted());
    duet.push_back(at_once.shifted());
    duet_in_pairs.push_back(at_once.shifted_in_pairs());
  }
  return formatted("| CV %.0f %%, %d pairs | %.2f %% | %.2f %% | %.2f %% |\n", 100 * cv, pairs,
                   100 * root_mean_square(in_turns), 100 * root_mean_square(duet),
                   100 * root_mean_square(duet_in_pairs));
}

std::string duet_table(int jobs) {
  std::string text = formatted(
      "\nThe same number of runs with neighbours, in turns on one device, or a pair at once on two "
      "that swap; root mean square error of the shift, %d sessions a row:\n\n"
      "| runs | **in turns** | at once | at once, compared in pairs |\n"
      "|---|---|---|---|\n",
      jobs);
  for (const double cv : {.01, .03})
    for (const int pairs : {10, 20}) text += duet_row(cv, pairs, jobs);
  return text;
}

std::string figures(const Options& options) {
  const auto sample = [&](bool neighbours, bool reads_control) {
    return std::async(std::launch::async,
                      [=, &options] { return Sample(options, neighbours, reads_control).tally; });
  };
  auto first = sample(false, false), second = sample(false, true);
  const Tally quiet_unread = first.get(), quiet = second.get();
  first = sample(true, false);
  second = sample(true, true);
  const Tally unread = first.get(), shared = second.get();
  const int quiet_suspects = static_cast<int>(std::max(1., quiet.most_suspects)),
            suspects = static_cast<int>(std::max(1., shared.most_suspects));
  std::string text = formatted(
      "%d series of a fleet of %d that nothing happens to, %d nights; false findings in 30 nights "
      "of the fleet with their 95 %% interval:\n\n"
      "| node | share of series that cannot show 7 %% | suspects a night | unclear a night | runs "
      "of confirmations a night | without the rule | **with the rule** |\n"
      "|---|---|---|---|---|---|---|\n",
      options.series, fleet_series, options.nights);
  text += fleet_row("quiet, control not read", quiet_unread, options) +
          fleet_row("quiet", quiet, options) +
          fleet_row("with neighbours, control not read", unread, options) +
          fleet_row("with neighbours", shared, options);
  text += formatted(
      "\nSteps of the smallest change that each series is said to show, seen on their first night "
      "under the bar of the worst of those nights, %d series a row:\n\n"
      "| series | quiet: change | seen | with neighbours, control not read: change | seen | with "
      "neighbours: change | seen | of the quiet node's |\n"
      "|---|---|---|---|---|---|---|---|\n",
      options.jobs);
  for (const auto& [name, cv] : {std::pair{"CV 1 %", .01}, {"CV 3 %", .03}}) {
    SeriesTraits traits;
    traits.spells = 0;
    traits.cv = cv;
    text += power_row(name, traits, quiet_suspects, suspects, options.jobs);
  }
  return text + small_steps_table(suspects, options.jobs) + duet_table(4 * options.jobs);
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  const std::string table = figures(options);
  std::fputs(table.c_str(), stdout);
  if (!options.file.empty()) write_figures(options.file, "neighbours", table);
  return 0;
}
