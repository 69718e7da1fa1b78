// The answers of a search: which steps are named, which are too small, and the sentence that says
// why.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bisect/search/decide.hpp"
#include "bisect/search/isolation.hpp"

namespace nightjar::bisect::search {
namespace {

// A step is named if its chance to reach the threshold is at least this.
constexpr double least_chance = .005;
// Nobody is blamed once the chance that any step reaches the threshold is below this. The chance is
// tested after every measurement, so this limit is stricter than the one for a named step.
constexpr double no_chance = .0025;
// A step as large as the threshold seems too small in one search of 200, so it is measured longer
// before it is dropped. Where runs are quiet, and so cheap, a step that is probably too small is
// measured longer before it is named. How much doubt is worth more runs shrinks with the noise: a
// chance of 4.5 % at CV 1 %, none from 1.7 % on.
constexpr double surely_below = .0005, probably_below = .35;
constexpr double quiet = .006, doubt_shrinks = 4;
constexpr double most_doubting_runs = 4;  // times the usual runs of a search
constexpr double certainly_differ = .01;  // P(nothing) under which the ends differ

template <class... Values>
std::string text(const char* format, Values... values) {
  char out[300];
  std::snprintf(out, sizeof out, format, values...);
  return out;
}

// "+4.2 % (3.2 to 5.2 %)", the change of the measured number. `size` and `sd` are logs in units of
// the threshold.
std::string percents(double size, double sd, const Data& data) {
  const double unit = data.of_inverses ? -data.unit : data.unit;
  auto percent = [&](double log) { return 100 * std::expm1(log * unit); };
  const auto [low, high] = std::minmax({percent(size - 1.96 * sd), percent(size + 1.96 * sd)});
  return text("%+.1f %% (%.1f to %.1f %%)", percent(size), low, high);
}

std::string threshold_text(const Data& data) {
  return text("%.3g %%", 100 * std::expm1(threshold_step * data.unit));
}

double sd_of_step(const Fit& fit, int k) {
  Row row{std::vector<double>(fit.theta.size(), 0.0), 0};
  row.x[static_cast<std::size_t>(k) + 1] = 1;
  return std::sqrt(variance(fit, std::move(row)));
}

bool only_claimed(const Fit& fit, const Claim& claim) {
  const auto& gaps = fit.hypothesis.gaps;
  return std::all_of(gaps.begin(), gaps.begin() + fit.hypothesis.count,
                     [&](int gap) { return claim.has(gap); });
}

// P(the step in `gap` is at least the threshold), given that it exists and that the claim has all
// steps. A further, unconfirmed step would take away a part of its size.
double chance_of_threshold(int gap, const Claim& claim, const Posterior& posterior) {
  const bool alone = std::any_of(posterior.fits.begin(), posterior.fits.end(), [&](const Fit& fit) {
    return fit.hypothesis.has(gap) && only_claimed(fit, claim);
  });
  double chance = 0, all = 0;
  for (std::size_t i = 0; i < posterior.fits.size(); ++i) {
    const Fit& fit = posterior.fits[i];
    if (alone && !only_claimed(fit, claim)) continue;
    for (std::size_t k = 0; k < static_cast<std::size_t>(fit.hypothesis.count); ++k) {
      if (fit.hypothesis.gaps[k] != gap) continue;
      chance += posterior.share[i] * fit.blamable[k];
      all += posterior.share[i];
    }
  }
  return all > 0 ? chance / all : 0;
}

NamedStep step_of(const Fit& fit, int k, double probability, const Posterior& posterior,
                  const SearchLog& log) {
  const Data& data = posterior.data;
  const auto gap = static_cast<std::size_t>(fit.hypothesis.gaps[static_cast<std::size_t>(k)]);
  const double size = fit.step(k), sd = sd_of_step(fit, k);
  auto ratio = [&](double of) { return std::exp(of * data.unit); };
  const Means means =
      sides_of(static_cast<int>(gap), std::max(size, least_step), posterior, log).means;
  return {data.commits[gap] + 1,
          data.commits[gap + 1],
          probability,
          ratio(size),
          ratio(size - 1.96 * sd),
          ratio(size + 1.96 * sd),
          means != Means::nothing};
}

// The sentence about the largest of the claim's steps.
std::string largest_of(const Claim& claim, const Posterior& posterior) {
  const Fit& fit = posterior.fits[static_cast<std::size_t>(claim.fit)];
  int largest = -1;
  for (int k = 0; k < fit.hypothesis.count; ++k) {
    if (claim.has(fit.hypothesis.gaps[static_cast<std::size_t>(k)]) &&
        (largest < 0 || fit.step(k) > fit.step(largest)))
      largest = k;
  }
  return "the largest step is " +
         percents(fit.step(largest), sd_of_step(fit, largest), posterior.data);
}

// A step whose chance to reach the threshold is smaller than this is measured longer before it is
// named.
double doubtful(const Posterior& posterior) {
  const double doubt =
      probably_below * std::pow(quiet / std::sqrt(posterior.noise.run), doubt_shrinks);
  return std::clamp(doubt, least_chance, probably_below);
}

std::string certainty_of(const Claim& claim, const Posterior& posterior) {
  return text(
      "P(each named step is real) %.4f, P(a further step) %.4f, each confirmed in a fresh session, "
      "after %d runs",
      claim.all_real, claim.further, posterior.data.runs());
}

}  // namespace

EndsChange ends_change(const Posterior& posterior) {
  EndsChange out;
  bool first = true;
  for (std::size_t i = 0; i < posterior.fits.size(); ++i) {
    const Fit& fit = posterior.fits[i];
    if (fit.hypothesis.count == 0) continue;
    double size = 0;
    Row row{std::vector<double>(fit.theta.size(), 0.0), 0};
    for (int k = 0; k < fit.hypothesis.count; ++k) {
      size += fit.step(k);
      row.x[static_cast<std::size_t>(k) + 1] = 1;
    }
    const double spread = variance(fit, std::move(row));
    out.reaches_threshold +=
        posterior.share[i] * upper_tail((threshold_step - size) / std::sqrt(spread));
    if (!first) continue;
    first = false;
    out.size = size;
    out.sd = std::sqrt(spread);
    if (fit.hypothesis.count > 1) continue;
    // The estimate without the prior, which draws a small change towards none.
    const StepPrior prior = step_prior(fit.hypothesis, posterior.data);
    const double own = 1 / spread - 1 / (prior.sd * prior.sd);
    if (own <= 0) continue;
    out.size = (size / spread - prior.mean / (prior.sd * prior.sd)) / own;
    out.sd = std::sqrt(1 / own);
  }
  return out;
}

bool ends_differ(const Posterior& posterior) {
  return posterior.nothing <= certainly_differ;
}

bool no_step_to_blame(const Posterior& posterior) {
  return posterior.blamable < no_chance && ends_differ(posterior);
}

bool is_below_threshold(const Posterior& posterior) {
  return no_step_to_blame(posterior) && ends_change(posterior).reaches_threshold < .5;
}

std::optional<Measure> resolve_doubt(const Claim& claim, const Posterior& posterior,
                                     const SearchLog& log, const SearchPolicy& policy) {
  const Data& data = posterior.data;
  if (data.runs() >= policy.max_runs ||
      own_runs(posterior, policy) >= most_doubting_runs * usual_runs(posterior, claim))
    return std::nullopt;
  const bool in_doubt = std::any_of(claim.gaps.begin(), claim.gaps.end(), [&](int gap) {
    const double chance = chance_of_threshold(gap, claim, posterior);
    return chance >= surely_below && chance < doubtful(posterior);
  });
  if (!in_doubt) return std::nullopt;
  // All builds on either side show how large the step is, and their layouts average out.
  Measure out;
  for (const MeasuredBuild& build : data.measured) {
    out.order.push_back(data.commits[static_cast<std::size_t>(build.rank)]);
    if (!log.origins.empty()) out.wheels.push_back(build.number);
  }
  out.new_session = data.in_session + data.builds() > policy.session_runs;
  return out;
}

Answer nobody(const Posterior& posterior, const std::string& why) {
  if (is_below_threshold(posterior)) {
    const EndsChange change = ends_change(posterior);
    return {
        Answer::Outcome::below_threshold,
        {},
        text("the ends differ by %s; below the threshold of %s, nobody is blamed, after %d runs",
             percents(change.size, change.sd, posterior.data).c_str(),
             threshold_text(posterior.data).c_str(), posterior.data.runs()),
        {}};
  }
  return {Answer::Outcome::not_reproduced,
          {},
          text("%s: P(no step) %.4f, P(too small to matter) %.4f, after %d runs", why.c_str(),
               posterior.nothing, posterior.too_small, posterior.data.runs()),
          {}};
}

Answer wheels_differ(const Posterior& posterior) {
  const EndWheels ends = end_wheels(posterior);
  return {
      Answer::Outcome::wheel,
      {},
      text("the ends differ by their wheels, %s, and no commit between them made it worse: P(no "
           "step) %.4f, P(too small to matter) %.4f, after %d runs",
           percents(ends.difference, ends.sd, posterior.data).c_str(), posterior.nothing,
           posterior.too_small, posterior.data.runs()),
      {}};
}

Answer named(const Claim& claim, const Posterior& posterior, const SearchLog& log) {
  Answer out;
  const Data& data = posterior.data;
  const Fit& fit = posterior.fits[static_cast<std::size_t>(claim.fit)];
  for (int k = 0; k < fit.hypothesis.count; ++k) {
    const int gap = fit.hypothesis.gaps[static_cast<std::size_t>(k)];
    if (!claim.has(gap)) continue;
    const bool may_be = chance_of_threshold(gap, claim, posterior) >= least_chance;
    (may_be ? out.culprits : out.smaller)
        .push_back(step_of(fit, k, chance_of_step(gap, posterior), posterior, log));
  }
  const std::string certainty = certainty_of(claim, posterior);
  if (!out.culprits.empty()) {
    out.outcome = Answer::Outcome::culprit;
    out.rule = certainty;
    if (!out.smaller.empty())
      out.rule += "; " + std::to_string(out.smaller.size()) +
                  " certain but below the threshold of " + threshold_text(data);
    return out;
  }
  const EndsChange change = ends_change(posterior);
  const std::string largest = largest_of(claim, posterior);
  if (change.reaches_threshold < .5) {
    out.outcome = Answer::Outcome::below_threshold;
    out.rule = largest + "; below the threshold of " + threshold_text(data) +
               ", nobody is blamed; " + certainty;
    return out;
  }
  const std::string together = percents(change.size, change.sd, data);
  if (out.smaller.size() >= 2) {
    std::swap(out.culprits, out.smaller);
    out.outcome = Answer::Outcome::several_small;
    out.rule = "no single step reaches the threshold of " + threshold_text(data) + ": " + largest +
               "; " + std::to_string(out.culprits.size()) + " together are " + together + "; " +
               certainty;
    return out;
  }
  out.rule = "the ends differ by " + together + ", but " + largest +
             ", and the rest was not found: nobody is blamed; " + certainty;
  return out;
}

}  // namespace nightjar::bisect::search
