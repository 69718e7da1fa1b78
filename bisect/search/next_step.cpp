// Decides on the next step: first runs, an answer, a confirmation, or the most informative
// measurement.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "bisect/search/decide.hpp"
#include "bisect/search/failures.hpp"
#include "bisect/search/isolation.hpp"
#include "bisect/search/readiness.hpp"

namespace nightjar::bisect {
namespace {

using namespace search;

constexpr double nobody_certainty = .9985;
constexpr double most_nothing = .002, most_small = .05;
// A claim this likely is worth confirming, since its runs inform the posterior as well.
constexpr double claim_from = .80, further_from = .15, nothing_from = .10;
// A search that took this multiple of its usual runs answers a certain and confirmed claim without
// excluding a further step. Where builds' layouts scatter, no run ends that doubt. At 1.0, second
// culprits are missed (+7 and +20 %: exact in .963 instead of .990).
constexpr double patience = 1.25;
// After this multiple of the usual runs, a search answers the certain steps of a claim without the
// others.
constexpr double stubbornness = 2.5;

// The wheels of the ends differ if their difference is at least this many sd.
constexpr double clear_wheels = 3;
// A measurement that gives less than this share of what a run usually tells is not worth making.
constexpr double least_bits = 3e-4;

// The largest chance of a further step that an answer leaves open. Excluding one costs runs in
// proportion to their variance, so that a noisy series leaves twice as much open.
double most_further(const Posterior& posterior) {
  return std::clamp(12 * posterior.noise.run, .015, .03);
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument("search log: " + what);
}

void validate(const SearchLog& log, const SearchPolicy& policy) {
  require(log.commits >= 1, "there must be at least one commit to suspect");
  require(log.prior.empty() || static_cast<int>(log.prior.size()) == log.commits,
          "the prior needs one value for each of " + std::to_string(log.commits) + " commits");
  double sum = 0;
  for (double mass : log.prior) {
    require(std::isfinite(mass) && mass >= 0, "a prior probability is negative or not finite");
    sum += mass;
  }
  require(log.prior.empty() || sum > 0, "the prior has no mass");
  for (const auto* list : {&log.untestable, &log.built}) {
    for (int commit : *list) {
      require(commit >= 0 && commit <= log.commits,
              "commit " + std::to_string(commit) + " is out of range");
    }
  }
  for (int commit : log.untestable) {
    require(commit > 0 && commit < log.commits, "an end cannot be untestable");
  }
  for (const SearchRun& run : log.runs) {
    require(run.commit >= 0 && run.commit <= log.commits,
            "commit " + std::to_string(run.commit) + " of a run is out of range");
    require(run.session >= 0, "a session is negative");
    if (policy.of_failures)
      require(run.value == 0 || run.value == 1,
              "a run of commit " + std::to_string(run.commit) + " neither passed nor failed");
    else
      require(std::isfinite(run.value) && run.value > 0,
              "a value of commit " + std::to_string(run.commit) + " is not positive and finite");
  }
}

void validate_wheels(const SearchLog& log) {
  const auto wheels = static_cast<int>(log.origins.size());
  require(log.wheels.empty() || static_cast<int>(log.wheels.size()) == log.commits + 1,
          "the wheels need one list for each of " + std::to_string(log.commits + 1) + " commits");
  for (const auto& list : log.wheels)
    for (const int wheel : list)
      require(wheel >= 0 && wheel < wheels, "wheel " + std::to_string(wheel) + " has no origin");
  for (const SearchRun& run : log.runs)
    require(wheels == 0 || (run.wheel >= 0 && run.wheel < wheels),
            "wheel " + std::to_string(run.wheel) + " of a run has no origin");
}

void validate_costs(const SearchLog& log, const SearchPolicy& policy) {
  require(log.costs.empty() || static_cast<int>(log.costs.size()) == log.commits + 1,
          "the costs need one entry for each of " + std::to_string(log.commits + 1) + " commits");
  const auto is_time = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
  for (const CommitCost& cost : log.costs)
    require(is_time(cost.build_seconds) && is_time(cost.prepare_seconds),
            "a commit's cost is negative or not finite");
  for (const BuildInProgress& one : log.building) {
    require(one.commit >= 0 && one.commit <= log.commits,
            "commit " + std::to_string(one.commit) + " in build is out of range");
    require(is_time(one.seconds_left), "what is left of a build is negative or not finite");
  }
  require(is_time(policy.seconds_per_run), "the seconds of a run are negative or not finite");
  require(policy.builders >= 1 && policy.runners >= 1, "there must be a builder and a runner");
}

// Drops the runs of commits that became untestable: what broke them may have slowed them before.
SearchLog without_untestable(SearchLog log) {
  std::erase_if(log.runs, [&](const SearchRun& run) {
    return std::find(log.untestable.begin(), log.untestable.end(), run.commit) !=
           log.untestable.end();
  });
  return log;
}

// Runs of both ends, interleaved, until each has its first runs.
Measure first_runs(const SearchLog& log, int good, int bad, const SearchPolicy& policy) {
  Measure out;
  out.new_session = log.runs.empty();
  for (int i = 0; good < policy.first_runs || bad < policy.first_runs; ++i) {
    if (good < policy.first_runs && (i % 2 == 0 || bad >= policy.first_runs)) {
      out.order.push_back(0);
      ++good;
    } else if (bad < policy.first_runs) {
      out.order.push_back(log.commits);
      ++bad;
    }
  }
  if (log.origins.empty()) return out;
  for (const int commit : out.order) {
    const auto& served = log.wheels.at(static_cast<std::size_t>(commit));
    out.wheels.push_back(served.empty() ? -1 : served.front());
  }
  return out;
}

Belief prior_belief(const SearchLog& log) {
  Belief out;
  out.nothing = .24;
  out.too_small = .06;
  out.cells.push_back({1, log.commits, .70});
  return out;
}

// Names what is certain without the rest if no run is left, or if part of a claim can be neither
// confirmed nor excluded. nullopt: the search goes on.
std::optional<Answer> without_the_rest(const Claim& said, const Posterior& posterior,
                                       const SearchLog& log, const SearchPolicy& policy) {
  const int runs = posterior.data.runs();
  const bool spent = runs >= policy.max_runs;
  const bool stuck = own_runs(posterior, policy) >= stubbornness * usual_runs(posterior, said);
  if (!spent && !stuck) return std::nullopt;
  const std::string why = spent ? "the budget of runs is spent: " + std::to_string(runs) + " runs"
                                : "the rest was neither confirmed nor excluded";
  const Claim certain = certain_part(said, posterior, log, policy);
  if (!certain.gaps.empty() && posterior.nothing < most_nothing / policy.searches) {
    Answer out = named(certain, posterior, log);
    out.rule += "; " + why;
    return out;
  }
  if (!spent) return std::nullopt;
  if (is_below_threshold(posterior)) return nobody(posterior, why);
  return Answer{Answer::Outcome::inconclusive, {}, why, {}};
}

bool is_likely(const Claim& said, const Posterior& posterior, bool below) {
  return said.all_real >= claim_from && (below || said.further <= further_from) &&
         posterior.nothing <= nothing_from;
}

// Whether the claim is worth confirming.
bool is_promising(const Claim& said, const Posterior& posterior, const SearchLog& log, bool below) {
  return all_cells(said, posterior.data, log) && is_likely(said, posterior, below);
}

// Whether more runs would not change the answer.
bool is_sure(const Claim& said, const Posterior& posterior, const SearchPolicy& policy,
             bool below) {
  if (said.all_real < needed_certainty(policy) ||
      posterior.nothing >= most_nothing / policy.searches)
    return false;
  if (below) return true;
  const bool patient = own_runs(posterior, policy) < patience * usual_runs(posterior, said);
  return (posterior.too_small < most_small || no_step_to_blame(posterior)) &&
         (said.further <= most_further(posterior) || !patient);
}

// Bits that a run of a step of the threshold's size gives, at most.
double bits_of_a_run(const Posterior& posterior) {
  return std::min(1.0, .18 * threshold_step * threshold_step / posterior.noise.run);
}

// No measurement tells whether the commits or the wheels did it.
struct CannotTell {};

Answer left_open(const Posterior& posterior) {
  return {Answer::Outcome::inconclusive,
          {},
          "the commits or their wheels made it worse, and no build here tells which, after " +
              std::to_string(posterior.data.runs()) + " runs",
          {}};
}

std::variant<Measure, Answer, CannotTell> decide(const Posterior& posterior, const SearchLog& log,
                                                 const SearchPolicy& policy, Belief& belief) {
  const Data& data = posterior.data;
  const Claim said = claim(posterior);
  const double idle = posterior.nothing + posterior.too_small;
  const bool below = is_below_threshold(posterior);
  // A change under half of the threshold is not worth locating. A larger one is, though nobody is
  // blamed for it.
  const bool minute = below && ends_change(posterior).size < least_step;
  const bool has_wheels = !data.wheels.empty();
  if (idle > nobody_certainty || said.fit < 0 || minute) {
    const EndWheels ends = end_wheels(posterior);
    const bool differ = std::abs(ends.difference) > std::max(least_step, clear_wheels * ends.sd);
    if (!has_wheels || minute || !differ) return nobody(posterior, "not reproduced");
    if (ends.known) return wheels_differ(posterior);
    return CannotTell{};
  }
  std::optional<Measure> confirming;
  const bool promising = is_promising(said, posterior, log, below);
  const bool stuck = own_runs(posterior, policy) >= stubbornness * usual_runs(posterior, said);
  if (promising && has_wheels && !stuck && data.runs() < policy.max_runs) {
    if (auto step = bridge(said, posterior, log, policy)) return *std::move(step);
  }
  if (promising && (!has_wheels || all_isolated(said.gaps, said.fit, posterior, log))) {
    confirming = confirmation(said, posterior, log, policy);
    if (!confirming && is_sure(said, posterior, policy, below)) {
      confirming = resolve_doubt(said, posterior, log, policy);
      if (!confirming) return named(said, posterior, log);
    }
  }
  if (has_wheels && stuck && !confirming) {
    const Claim certain = certain_part(said, posterior, log, policy);
    const bool isolated = all_isolated(certain.gaps, said.fit, posterior, log);
    if (certain.gaps.empty() || !isolated) return CannotTell{};
  }
  if (auto answer = without_the_rest(said, posterior, log, policy)) return *std::move(answer);
  const bool only_ends = data.commits.size() == 2 && log.untestable.empty();
  if (only_ends && data.runs() >= policy.reproduce_runs) {
    return nobody(posterior, "not reproduced within the runs allowed for it");
  }
  const int confirms = confirming ? static_cast<int>(confirming->order.size()) : 0;
  belief.expected_runs =
      std::min<double>(policy.max_runs - data.runs(), expected_rest(posterior, said, confirms));
  if (confirming) return *confirming;
  auto [chosen, bits] = choose(posterior, said, log, policy);
  if (has_wheels && bits < least_bits * bits_of_a_run(posterior)) return CannotTell{};
  if (Readiness(log, policy).is_known())
    keep_all_busy(chosen, posterior, log, policy);
  else
    build_in_rounds(chosen, posterior, log, policy);
  return chosen;
}

// A step whose sides are on one wheel is certain as it was found. Any other must be certain in the
// model with wheels, too: else they may have made it, and it is as probable as that model says.
void weigh_wheels(Answer& answer, const Posterior& posterior, const Posterior& apart,
                  const SearchLog& log, const SearchPolicy& policy) {
  for (NamedStep& step : answer.culprits) {
    const auto& commits = apart.data.commits;
    const auto good = std::lower_bound(commits.begin(), commits.end(), step.first - 1);
    const int gap = static_cast<int>(good - commits.begin());
    const double size = std::max(std::log(step.ratio) / apart.data.unit, least_step);
    if (sides_of(gap, size, posterior, log).means == Means::wheel) continue;
    const double chance = chance_of_step(gap, apart);
    step.isolated &= chance >= needed_certainty(policy);
    if (!step.isolated) step.probability = chance;
  }
  const auto is_open = [](const NamedStep& step) { return !step.isolated; };
  if (std::all_of(answer.culprits.begin(), answer.culprits.end(), is_open)) return;
  // The change has its culprit. What else the wheels may have made is no finding.
  if (std::erase_if(answer.culprits, is_open) > 0)
    answer.rule += "; what changes with the wheel besides is not told apart";
}

}  // namespace

NextStep next_step(const SearchLog& log, const SearchPolicy& policy) {
  validate(log, policy);
  require(std::isfinite(policy.threshold) && policy.threshold > 0,
          "the threshold is not positive and finite");
  validate_costs(log, policy);
  validate_wheels(log);
  const SearchLog usable = without_untestable(log);
  auto runs_of = [&](int commit) {
    return static_cast<int>(
        std::count_if(usable.runs.begin(), usable.runs.end(),
                      [&](const SearchRun& run) { return run.commit == commit; }));
  };
  const int good = runs_of(0), bad = runs_of(log.commits);
  const int wanted = std::max(1, policy.first_runs);
  if (good < wanted || bad < wanted) {
    SearchPolicy first = policy;
    first.first_runs = wanted;
    return {first_runs(usable, good, bad, first), prior_belief(log)};
  }
  if (policy.of_failures) return next_failure_step(usable, policy);
  Posterior posterior = infer(usable, policy);
  NextStep out{Answer{}, belief_of(posterior)};
  auto decided = decide(posterior, usable, policy, out.belief);
  int left_out = 0;  // runs on wheels that do not count
  // A verdict that is judged again does not say on which wheels more could have been measured.
  const bool judged_again = !usable.origins.empty() && usable.wheels.empty();
  if (judged_again && std::holds_alternative<Measure>(decided)) decided = CannotTell{};
  if (std::holds_alternative<CannotTell>(decided)) {
    // Where the change lies is found as if all wheels were alike. Nobody is blamed for a step whose
    // sides are on wheels that may differ.
    const Posterior apart = std::exchange(posterior, infer(usable, policy, false));
    left_out = static_cast<int>(usable.runs.size()) - posterior.data.runs();
    SearchPolicy rest = policy;
    rest.max_runs -= left_out;
    out.belief = belief_of(posterior);
    decided = decide(posterior, usable, rest, out.belief);
    auto* answer = std::get_if<Answer>(&decided);
    if (answer) weigh_wheels(*answer, posterior, apart, usable, policy);
    if (answer && answer->outcome == Answer::Outcome::not_reproduced)
      decided = left_open(posterior);
  }
  if (auto* answer = std::get_if<Answer>(&decided)) out.step = std::move(*answer);
  if (auto* measure = std::get_if<Measure>(&decided)) {
    const auto left =
        static_cast<std::size_t>(std::max(policy.max_runs - left_out - posterior.data.runs(), 0));
    if (measure->order.size() > left) measure->order.resize(left);
    if (measure->wheels.size() > left) measure->wheels.resize(left);
    out.step = std::move(*measure);
  }
  return out;
}

}  // namespace nightjar::bisect
