// The normal equations with the layout terms eliminated.
#include "bisect/search/laplace.hpp"
#include "bisect/search/wheels.hpp"

namespace nightjar::bisect::search {
namespace {

// Adds the prior: its precision, its log determinant, and its means on the right side.
void add_prior(System& system, const Hypothesis& hypothesis, const Data& data, const Noise& noise) {
  constexpr double level_sd = .10;
  Lower& p = system.precision;
  double& log = system.log_prior_determinant;
  p.at(0, 0) = 1 / (level_sd * level_sd);
  log = std::log(p.at(0, 0));
  const StepPrior prior = step_prior(hypothesis, data);
  const auto steps = static_cast<std::size_t>(hypothesis.count);
  for (std::size_t k = 1; k <= steps; ++k) {
    p.at(k, k) = 1 / (prior.sd * prior.sd);
    system.right[k] = p.at(k, k) * prior.mean;
    log += std::log(p.at(k, k));
  }
  const std::size_t wheels = data.wheels.size();
  if (wheels > 0) {
    const WheelPrior effects = wheel_prior(data, noise, hypothesis.odd);
    for (std::size_t i = 0; i < wheels; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        p.at(1 + steps + i, 1 + steps + j) = effects.precision.at(i, j);
    log += effects.determinant;
  }
  const double rho = session_correlation, innovation = fresh_session(noise);
  for (std::size_t t = 0; t < static_cast<std::size_t>(data.sessions); ++t) {
    const std::size_t at = 1 + steps + wheels + t;
    const double own = t == 0 ? noise.session : innovation;
    p.at(at, at) += 1 / own;
    log -= std::log(own);
    if (t > 0) {
      p.at(at - 1, at - 1) += rho * rho / innovation;
      p.at(at, at - 1) -= rho / innovation;
    }
  }
}

}  // namespace

void assemble(System& system, const Hypothesis& hypothesis, const Data& data, const Noise& noise,
              const std::vector<double>& weight, const std::vector<double>& moment) {
  const auto steps = static_cast<std::size_t>(hypothesis.count);
  const std::size_t wheels = data.wheels.size(), session_at = 1 + steps + wheels;
  const std::size_t size = session_at + static_cast<std::size_t>(data.sessions);
  system.precision.reset(size);
  system.right.assign(size, 0.0);
  add_prior(system, hypothesis, data, noise);
  system.build_weight.resize(data.measured.size());
  system.log_layout_determinant = 0;
  Lower& p = system.precision;
  std::vector<std::size_t> own_columns{0};  // ascending: mu, the steps below the build, its wheel
  std::size_t beyond = 0;
  for (std::size_t build = 0; build < data.measured.size(); ++build) {
    const auto [rank, wheel, number] = data.measured[build];
    while (beyond < steps && hypothesis.gaps[beyond] < rank) ++beyond;
    own_columns.resize(1);
    for (std::size_t k = 1; k <= beyond; ++k) own_columns.push_back(k);
    if (wheel >= 0) own_columns.push_back(1 + steps + static_cast<std::size_t>(wheel));
    const auto first = static_cast<std::size_t>(data.build_blocks[build]);
    const auto last = static_cast<std::size_t>(data.build_blocks[build + 1]);
    double all = 0, moments = 0;
    for (std::size_t b = first; b < last; ++b) {
      all += weight[b];
      moments += moment[b];
    }
    const double own = 1 / noise.layout + all, share = 1 / own;
    system.build_weight[build] = own;
    system.log_layout_determinant += std::log(own) + std::log(noise.layout);
    const double kept = all - all * all * share, right = moments - all * moments * share;
    for (std::size_t i = 0; i < own_columns.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) p.at(own_columns[i], own_columns[j]) += kept;
      system.right[own_columns[i]] += right;
    }
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t at = session_at + static_cast<std::size_t>(data.blocks[b].session);
      const double cross = weight[b] - all * weight[b] * share;
      for (const std::size_t i : own_columns) p.at(at, i) += cross;
      p.at(at, at) += weight[b];
      system.right[at] += moment[b] - weight[b] * moments * share;
      for (std::size_t c = first; c <= b; ++c) {
        const std::size_t other = session_at + static_cast<std::size_t>(data.blocks[c].session);
        p.at(at, other) -= weight[b] * weight[c] * share;
      }
    }
  }
}

namespace {

// The level of a commit in the newest session or in a new one, without wheel and layout.
Row level_row(const Fit& fit, const Data& data, const Noise& noise, double rank, bool new_session) {
  Row row{std::vector<double>(fit.theta.size(), 0.0), 0};
  row.x[0] = 1;
  for (int k = 0; k < fit.hypothesis.count; ++k) {
    if (rank > fit.hypothesis.gaps[static_cast<std::size_t>(k)]) {
      row.x[static_cast<std::size_t>(k) + 1] = 1;
    }
  }
  row.x[fit.session_at(data.sessions - 1)] = new_session ? session_correlation : 1;
  row.rest = new_session ? fresh_session(noise) : 0;
  return row;
}

}  // namespace

Row measured_row(const Fit& fit, const Data& data, const Noise& noise, int build,
                 bool new_session) {
  const auto at = static_cast<std::size_t>(build);
  const auto [rank, wheel, number] = data.measured[at];
  Row row = level_row(fit, data, noise, rank, new_session);
  if (wheel >= 0) row.x[fit.wheel_at(wheel)] = 1;
  // The layout term given theta is (moments - sum of weights times rows) / own.
  const double share = 1 / fit.build_weight[at];
  double all = 0;
  for (int b = data.build_blocks[at]; b < data.build_blocks[at + 1]; ++b) {
    const double weight = fit.block_weight[static_cast<std::size_t>(b)];
    all += weight;
    row.x[fit.session_at(data.blocks[static_cast<std::size_t>(b)].session)] -= weight * share;
  }
  row.x[0] -= all * share;
  for (int k = 0; k < fit.hypothesis.count; ++k) {
    if (rank > fit.hypothesis.gaps[static_cast<std::size_t>(k)]) {
      row.x[static_cast<std::size_t>(k) + 1] -= all * share;
    }
  }
  if (wheel >= 0) row.x[fit.wheel_at(wheel)] -= all * share;
  row.rest += share;
  return row;
}

Row new_row(const Fit& fit, const Data& data, const Noise& noise, double rank, WheelChoice wheel,
            bool new_session) {
  Row row = level_row(fit, data, noise, rank, new_session);
  row.rest += noise.layout;
  if (wheel.measured >= 0) {
    row.x[fit.wheel_at(wheel.measured)] = 1;
  } else if (wheel.origin >= 0 && !data.wheels.empty()) {
    const NewWheel expected = new_wheel(wheel.origin, data, noise, fit.hypothesis.odd);
    for (std::size_t w = 0; w < data.wheels.size(); ++w)
      if (is_of(wheel.origin, w, data, fit.hypothesis.odd))
        row.x[fit.wheel_at(static_cast<int>(w))] = expected.share;
    row.rest += expected.variance;
  }
  return row;
}

double expected_effect(const Fit& fit, const Data& data, const Noise& noise, WheelChoice wheel) {
  if (wheel.measured >= 0) return fit.wheel_effect(wheel.measured);
  if (wheel.origin < 0 || data.wheels.empty()) return 0;
  double sum = 0;
  for (std::size_t w = 0; w < data.wheels.size(); ++w)
    if (is_of(wheel.origin, w, data, fit.hypothesis.odd))
      sum += fit.wheel_effect(static_cast<int>(w));
  return new_wheel(wheel.origin, data, noise, fit.hypothesis.odd).share * sum;
}

double variance(const Fit& fit, Row row) {
  fit.factor.forward(row.x.data());
  return dot(row.x, row.x) + row.rest;
}

}  // namespace nightjar::bisect::search
