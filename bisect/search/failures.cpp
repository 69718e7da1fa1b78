// Probabilities of the places of steps of a failure rate.
#include "bisect/search/failures.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace nightjar::bisect::search {
namespace {

constexpr std::size_t rate_count = 51;
constexpr double nothing = .30, pair = .15;  // as of numbers: model.cpp
constexpr double fails_always_from = .98;    // from this rate on a test fails always
constexpr double share_of_rises = .9;        // of steps; the rest are repairs
constexpr double usual_flakes = .1;          // rates of good commits are mostly below

using Rates = std::array<double, rate_count>;

// Values and prior weights of the rates. Half of the good commits never fail; otherwise a rate is
// as probable as any other on a logarithmic scale, up to the usual flakes.
struct Grid {
  Rates rate{}, log_fails{}, log_passes{}, good{}, common{};
  std::array<Rates, rate_count> rise{}, fall{};  // P(rate after | rate before)

  explicit Grid(double least) {
    constexpr std::size_t low = 34;
    for (std::size_t i = 0; i < low; ++i)
      rate[i] = .001 * std::pow(500.0, static_cast<double>(i) / (low - 1));
    for (std::size_t i = low; i < rate_count; ++i)
      rate[i] = 1 - .5 * std::pow(.002, static_cast<double>(i - low + 1) / (rate_count - low));
    for (std::size_t i = 0; i < rate_count; ++i) {
      log_fails[i] = std::log(rate[i]);
      log_passes[i] = std::log1p(-rate[i]);
    }
    double sum = 0;
    for (std::size_t i = 0; i < rate_count; ++i) sum += good[i] = std::exp(-rate[i] / usual_flakes);
    for (double& weight : good) weight *= .5 / sum;
    good[0] += .5;
    for (std::size_t i = 0; i < rate_count; ++i) common[i] = .7 * good[i] + .3 / rate_count;
    for (std::size_t i = 0; i < rate_count; ++i) add_steps(i, least);
  }

 private:
  void add_steps(std::size_t before, double least) {
    double always = 0, others = 0, falls = 0;
    for (std::size_t j = 0; j < rate_count; ++j) {
      if (rate[j] >= rate[before] + least) (rate[j] >= fails_always_from ? always : others) += 1;
      falls += rate[j] <= rate[before] - least;
    }
    const double some = always > 0 ? .3 : 0;
    for (std::size_t j = 0; j < rate_count; ++j) {
      if (rate[j] >= rate[before] + least)
        rise[before][j] =
            share_of_rises * (rate[j] >= fails_always_from ? some / always : (1 - some) / others);
      if (rate[j] <= rate[before] - least) fall[before][j] = (1 - share_of_rises) / falls;
    }
  }
};

const Grid& grid_of(double least) {
  thread_local std::map<double, Grid> grids;
  return grids.try_emplace(least, least).first->second;
}

// Likelihood of each rate, scaled by exp(-log).
struct Scaled {
  Rates each{};
  double log = 0;
};

Scaled likelihood(const Grid& grid, FailureCounts runs) {
  Scaled out;
  for (std::size_t i = 0; i < rate_count; ++i)
    out.each[i] = runs.failed * grid.log_fails[i] + runs.passed * grid.log_passes[i];
  out.log = *std::max_element(out.each.begin(), out.each.end());
  for (double& value : out.each) value = std::exp(value - out.log);
  return out;
}

FailureCounts runs_between(const FailureData& data, int from, int to) {
  const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
  return {data.failed[b] - data.failed[a], data.passed[b] - data.passed[a]};
}

double inner_product(const Rates& a, const Rates& b) {
  double sum = 0;
  for (std::size_t i = 0; i < rate_count; ++i) sum += a[i] * b[i];
  return sum;
}

Rates elementwise(const Rates& a, const Rates& b) {
  Rates out{};
  for (std::size_t i = 0; i < rate_count; ++i) out[i] = a[i] * b[i];
  return out;
}

// What the runs on one side of a gap say about the rate on the other side of it: all of it, the
// part of rises, and the part weighted by the rate on the first side.
struct Message {
  Rates all{}, rises{}, weighted{};
  double log = 0;
};

Message forward(const Grid& grid, const Scaled& before) {
  Message out;
  out.log = before.log;
  for (std::size_t i = 0; i < rate_count; ++i) {
    const double weight = grid.good[i] * before.each[i];
    if (weight < 1e-300) continue;
    for (std::size_t j = 0; j < rate_count; ++j) {
      const double rise = weight * grid.rise[i][j], one = rise + weight * grid.fall[i][j];
      out.all[j] += one;
      out.rises[j] += rise;
      out.weighted[j] += one * grid.rate[i];
    }
  }
  return out;
}

Message backward(const Grid& grid, const Scaled& after) {
  Message out;
  out.log = after.log;
  for (std::size_t j = 0; j < rate_count; ++j) {
    for (std::size_t k = 0; k < rate_count; ++k) {
      const double rise = grid.rise[j][k] * after.each[k];
      const double one = rise + grid.fall[j][k] * after.each[k];
      out.all[j] += one;
      out.rises[j] += rise;
      out.weighted[j] += one * grid.rate[k];
    }
  }
  return out;
}

// Each side of the middle segment that two gaps enclose, or of a single gap.
class Evidence {
 public:
  Evidence(const FailureData& data, double least) : data_(data), grid_(grid_of(least)) {
    const int ranks = data.gaps() + 1;
    for (int gap = 0; gap < data.gaps(); ++gap) {
      before_.push_back(forward(grid_, likelihood(grid_, runs_between(data, 0, gap + 1))));
      after_.push_back(backward(grid_, likelihood(grid_, runs_between(data, gap + 1, ranks))));
    }
  }

  FailureHypothesis none() const {
    const Scaled all = likelihood(grid_, runs_between(data_, 0, data_.gaps() + 1));
    const double sum = inner_product(grid_.common, all.each);
    FailureHypothesis out;
    out.share = std::log(nothing) + all.log + std::log(sum);
    out.rate.fill(inner_product(elementwise(grid_.common, all.each), grid_.rate) / sum);
    return out;
  }

  FailureHypothesis one(int gap) const {
    const auto g = static_cast<std::size_t>(gap);
    const Scaled rest = likelihood(grid_, runs_between(data_, gap + 1, data_.gaps() + 1));
    const Message& first = before_[g];
    const double sum = inner_product(first.all, rest.each);
    FailureHypothesis out;
    out.gaps = {gap, -1};
    out.share =
        std::log((1 - nothing) * (1 - pair) * data_.mass[g]) + first.log + rest.log + std::log(sum);
    const double after = inner_product(elementwise(first.all, rest.each), grid_.rate) / sum;
    out.rate = {inner_product(first.weighted, rest.each) / sum, after, after};
    out.rises = {inner_product(first.rises, rest.each) / sum, 0};
    return out;
  }

  FailureHypothesis two(int gap, int later) const {
    const auto g = static_cast<std::size_t>(gap), h = static_cast<std::size_t>(later);
    const Scaled middle = likelihood(grid_, runs_between(data_, gap + 1, later + 1));
    const Message &first = before_[g], &last = after_[h];
    const Rates left = elementwise(first.all, middle.each),
                right = elementwise(last.all, middle.each);
    const double sum = inner_product(left, last.all);
    FailureHypothesis out;
    out.gaps = {gap, later};
    out.share = std::log((1 - nothing) * pair * 2 * data_.mass[g] * data_.mass[h]) + first.log +
                middle.log + last.log + std::log(sum);
    out.rate = {inner_product(first.weighted, right) / sum,
                inner_product(elementwise(left, last.all), grid_.rate) / sum,
                inner_product(left, last.weighted) / sum};
    out.rises = {inner_product(first.rises, right) / sum, inner_product(left, last.rises) / sum};
    return out;
  }

 private:
  const FailureData& data_;
  const Grid& grid_;
  std::vector<Message> before_, after_;
};

}  // namespace

double FailureHypothesis::has_rises(const std::vector<int>& sought) const {
  double real = 1;
  for (const int gap : sought) {
    if (!has(gap)) return 0;
    real *= rises[gaps[0] == gap ? 0 : 1];
  }
  return real;
}

FailureData pack_failures(const SearchLog& log) {
  std::map<int, FailureCounts> counts;
  for (const SearchRun& run : log.runs)
    (run.value > 0 ? counts[run.commit].failed : counts[run.commit].passed) += 1;
  FailureData out;
  out.failed = out.passed = {0};
  out.runs = static_cast<int>(log.runs.size());
  double all = 0;
  for (const double mass : log.prior) all += mass;
  for (const auto& [commit, runs] : counts) {
    if (!out.commits.empty()) {
      double mass = log.prior.empty() ? commit - out.commits.back() : 0;
      for (int c = out.commits.back(); c < commit && !log.prior.empty(); ++c)
        mass += log.prior[static_cast<std::size_t>(c)];
      out.mass.push_back(mass / (log.prior.empty() ? log.commits : all));
    }
    out.commits.push_back(commit);
    out.failed.push_back(out.failed.back() + runs.failed);
    out.passed.push_back(out.passed.back() + runs.passed);
  }
  return out;
}

std::vector<FailureHypothesis> infer_failures(const FailureData& data, double least) {
  const Evidence evidence(data, least);
  std::vector<FailureHypothesis> out{evidence.none()};
  for (int gap = 0; gap < data.gaps(); ++gap) {
    out.push_back(evidence.one(gap));
    for (int later = gap + 1; later < data.gaps(); ++later) out.push_back(evidence.two(gap, later));
  }
  std::erase_if(out, [](const auto& one) { return !std::isfinite(one.share); });
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  const double best = out.front().share;
  double sum = 0;
  for (auto& one : out) sum += one.share = std::exp(one.share - best);
  for (auto& one : out) one.share /= sum;
  return out;
}

double log_odds_of_rise(FailureCounts good, FailureCounts bad, double least) {
  const Grid& grid = grid_of(least);
  const Scaled all = likelihood(grid, {good.failed + bad.failed, good.passed + bad.passed});
  const Message first = forward(grid, likelihood(grid, good));
  const Scaled after = likelihood(grid, bad);
  return first.log + after.log + std::log(inner_product(first.rises, after.each)) - all.log -
         std::log(inner_product(grid.common, all.each));
}

}  // namespace nightjar::bisect::search
