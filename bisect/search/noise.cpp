// Estimates the four noise parameters by expectation maximisation, with weak priors.
#include <set>

#include "bisect/search/posterior.hpp"
#include "bisect/search/wheels.hpp"

namespace nightjar::bisect::search {
namespace {

constexpr double least_run_sd = .004;
constexpr double session_prior_sd = .015, session_prior_count = 6;
constexpr double layout_prior_count = 10;
constexpr double outlier_prior = .06, outlier_prior_count = 25;
constexpr double wheel_prior_count = 8, origin_prior_count = 3;
constexpr double caution_runs = 4;

// The inverse of the factored precision, as a full matrix.
Lower covariance(const Lower& factor) {
  Lower out;
  out.reset(factor.size);
  std::vector<double> column(factor.size);
  for (std::size_t j = 0; j < factor.size; ++j) {
    std::fill(column.begin(), column.end(), 0.0);
    column[j] = 1;
    factor.forward(column.data());
    factor.backward(column.data());
    for (std::size_t i = 0; i < factor.size; ++i) out.at(i, j) = column[i];
  }
  return out;
}

// x' V x for sparse x.
double quadratic(const Lower& v, const std::vector<std::pair<std::size_t, double>>& x) {
  double sum = 0;
  for (const auto& [i, a] : x) {
    for (const auto& [j, b] : x) sum += a * b * v.at(i, j);
  }
  return sum;
}

struct Moments {
  double square = 0, weight = 0, outliers = 0, sessions = 0, layouts = 0;
  double wheels = 0, wheel_count = 0, origins = 0, origin_count = 0;
};

void add_sessions(Moments& sum, const Fit& fit, const Data& data, const Lower& v) {
  const double rho = session_correlation;
  for (int t = 0; t < data.sessions; ++t) {
    const std::size_t at = fit.session_at(t);
    const double d = fit.theta[at];
    if (t == 0) {
      sum.sessions += d * d + v.at(at, at);
      continue;
    }
    const double step = d - rho * fit.theta[at - 1];
    const double spread =
        v.at(at, at) + rho * rho * v.at(at - 1, at - 1) - 2 * rho * v.at(at, at - 1);
    sum.sessions += (step * step + spread) / (1 - rho * rho);
  }
}

// Divides the effects of the wheels of one origin into the origin's own and the rest.
void add_origin(Moments& sum, const Fit& fit, const Data& data, const Noise& noise, const Lower& v,
                int origin) {
  std::vector<std::size_t> members;
  for (std::size_t w = 0; w < data.wheels.size(); ++w)
    if (is_of(origin, w, data, fit.hypothesis.odd))
      members.push_back(fit.wheel_at(static_cast<int>(w)));
  if (members.empty()) return;
  const double n = static_cast<double>(members.size());
  const double open = 1 / (1 / noise.origin + n / noise.wheel), share = open / noise.wheel;
  std::vector<std::pair<std::size_t, double>> common;
  double mean = 0;
  for (const std::size_t at : members) {
    common.emplace_back(at, share);
    mean += share * fit.theta[at];
  }
  sum.origins += mean * mean + quadratic(v, common) + open;
  sum.origin_count += 1;
  for (const std::size_t at : members) {
    auto rest = common;
    for (auto& [other, x] : rest) x = (other == at ? 1 : 0) - x;
    const double own = fit.theta[at] - mean;
    sum.wheels += own * own + quadratic(v, rest) + open;
    sum.wheel_count += 1;
  }
}

void add_wheels(Moments& sum, const Fit& fit, const Data& data, const Noise& noise,
                const Lower& v) {
  std::set<int> origins;
  for (const MeasuredWheel& wheel : data.wheels) origins.insert(wheel.origin);
  for (const int origin : origins) add_origin(sum, fit, data, noise, v, origin);
}

void add_build(Moments& sum, const Fit& fit, const Data& data, const Lower& v, std::size_t build) {
  const double share = 1 / fit.build_weight[build];
  const auto first = static_cast<std::size_t>(data.build_blocks[build]);
  const auto last = static_cast<std::size_t>(data.build_blocks[build + 1]);
  double all = 0;
  for (std::size_t b = first; b < last; ++b) all += fit.block_weight[b];
  // The layout given theta: its coefficients on theta. Those of a run's mean follow below.
  const auto [rank, wheel, number] = data.measured[build];
  std::vector<std::pair<std::size_t, double>> own{{0, -all * share}};
  for (int k = 0; k < fit.hypothesis.count; ++k) {
    if (rank > fit.hypothesis.gaps[static_cast<std::size_t>(k)]) {
      own.emplace_back(static_cast<std::size_t>(1 + k), -all * share);
    }
  }
  if (wheel >= 0) own.emplace_back(fit.wheel_at(wheel), -all * share);
  const std::size_t shared = own.size();  // by all runs of the build
  for (std::size_t b = first; b < last; ++b) {
    own.emplace_back(fit.session_at(data.blocks[b].session), -fit.block_weight[b] * share);
  }
  sum.layouts += fit.layout[build] * fit.layout[build] + share + quadratic(v, own);
  const double level = fit.level(rank) + fit.wheel_effect(wheel) + fit.layout[build];
  for (std::size_t b = first; b < last; ++b) {
    const Block& block = data.blocks[b];
    auto row = own;
    for (std::size_t i = 0; i < shared; ++i) row[i].second += 1;
    row.emplace_back(fit.session_at(block.session), 1.0);
    const double spread = quadratic(v, row) + share;
    const double mean = level + fit.theta[fit.session_at(block.session)];
    for (int i = block.first; i < block.first + block.count; ++i) {
      const auto run = static_cast<std::size_t>(i);
      const double e = data.y[run] - mean, weight = 1 - fit.outlying[run];
      sum.square += weight * (e * e + spread);
      sum.weight += weight;
      sum.outliers += fit.outlying[run];
    }
  }
}

}  // namespace

Noise cautious(const Noise& noise, const Data& data) {
  Noise out = noise;
  const double known = data.runs() - data.builds() - 1 + std::max(0.0, data.known_runs - 2);
  out.run *= 1 + caution_runs / std::max(known, 4.0);
  return out;
}

Noise updated_noise(const Fit& fit, const Data& data, const Noise& noise) {
  const Lower v = covariance(fit.factor);
  Moments sum;
  add_sessions(sum, fit, data, v);
  if (fit.wheels > 0) add_wheels(sum, fit, data, noise, v);
  for (std::size_t build = 0; build < data.measured.size(); ++build)
    add_build(sum, fit, data, v, build);
  auto with_prior = [](double total, double count, double sd, double prior_count) {
    return (total + prior_count * sd * sd) / (count + prior_count);
  };
  Noise out;
  out.run = std::max(with_prior(sum.square, sum.weight, data.first_sd, data.known_runs),
                     least_run_sd * least_run_sd);
  out.outliers =
      (sum.outliers + outlier_prior * outlier_prior_count) / (data.runs() + outlier_prior_count);
  out.session = with_prior(sum.sessions, data.sessions, session_prior_sd, session_prior_count);
  out.layout = with_prior(sum.layouts, data.builds(), usual_layout, layout_prior_count);
  out.wheel =
      with_prior(sum.wheels, sum.wheel_count, usual_wheel * data.stretch, wheel_prior_count);
  out.origin =
      with_prior(sum.origins, sum.origin_count, usual_origin * data.stretch, origin_prior_count);
  return out;
}

}  // namespace nightjar::bisect::search
