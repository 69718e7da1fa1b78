// The normal equations with the layout terms eliminated.
#include "bisect/search/laplace.hpp"

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
  const double rho = session_correlation, innovation = fresh_session(noise);
  for (std::size_t t = 0; t < static_cast<std::size_t>(data.sessions); ++t) {
    const std::size_t at = 1 + steps + t;
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
  const std::size_t size = 1 + steps + static_cast<std::size_t>(data.sessions);
  system.precision.reset(size);
  system.right.assign(size, 0.0);
  add_prior(system, hypothesis, data, noise);
  system.build_weight.resize(data.commits.size());
  system.log_layout_determinant = 0;
  Lower& p = system.precision;
  std::size_t beyond = 0;  // steps below the build: their columns equal mu's
  for (std::size_t build = 0; build < data.commits.size(); ++build) {
    while (beyond < steps && hypothesis.gaps[beyond] < static_cast<int>(build)) ++beyond;
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
    for (std::size_t i = 0; i <= beyond; ++i) {
      for (std::size_t j = 0; j <= i; ++j) p.at(i, j) += kept;
      system.right[i] += right;
    }
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t at = 1 + steps + static_cast<std::size_t>(data.blocks[b].session);
      const double cross = weight[b] - all * weight[b] * share;
      for (std::size_t i = 0; i <= beyond; ++i) p.at(at, i) += cross;
      p.at(at, at) += weight[b];
      system.right[at] += moment[b] - weight[b] * moments * share;
      for (std::size_t c = first; c <= b; ++c) {
        const std::size_t other = 1 + steps + static_cast<std::size_t>(data.blocks[c].session);
        p.at(at, other) -= weight[b] * weight[c] * share;
      }
    }
  }
}

Row prediction_row(const Fit& fit, const Data& data, const Noise& noise, double rank, bool measured,
                   bool new_session) {
  Row row{std::vector<double>(fit.theta.size(), 0.0), 0};
  row.x[0] = 1;
  for (int k = 0; k < fit.hypothesis.count; ++k) {
    if (rank > fit.hypothesis.gaps[static_cast<std::size_t>(k)]) {
      row.x[static_cast<std::size_t>(k) + 1] = 1;
    }
  }
  row.x[fit.session_at(data.sessions - 1)] = new_session ? session_correlation : 1;
  row.rest = new_session ? fresh_session(noise) : 0;
  if (!measured) {
    row.rest += noise.layout;
    return row;
  }
  // The layout term given theta is (moments - sum of weights times rows) / own.
  const auto build = static_cast<std::size_t>(rank);
  const double share = 1 / fit.build_weight[build];
  double all = 0;
  for (int b = data.build_blocks[build]; b < data.build_blocks[build + 1]; ++b) {
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
  row.rest += share;
  return row;
}

double variance(const Fit& fit, Row row) {
  fit.factor.forward(row.x.data());
  return dot(row.x, row.x) + row.rest;
}

}  // namespace nightjar::bisect::search
