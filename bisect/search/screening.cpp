// With fixed outlier labels the model is linear. One factorisation without steps then gives the
// evidence of every set of steps from a system no larger than the set. Adding the labels' entropy
// makes it a lower bound of the true evidence for any labels. So several sets of labels are tried
// and the best bound is kept.
#include <algorithm>

#include "bisect/search/posterior.hpp"
#include "bisect/search/wheels.hpp"

namespace nightjar::bisect::search {
namespace {

class Screening {
 public:
  Screening(const Data& data, const Noise& noise, const Labels& labels)
      : data_(data), columns_(static_cast<std::size_t>(data.gaps()) + data.wheels.size()) {
    std::vector<double> weight(data.blocks.size()), moment(data.blocks.size());
    const double wide_variance = noise.run + data.outlier_sd * data.outlier_sd;
    const double narrow = 1 / noise.run, wide = 1 / wide_variance;
    const double ordinary = std::log(1 - noise.outliers) - .5 * std::log(noise.run);
    const double outlying = std::log(noise.outliers) - .5 * std::log(wide_variance);
    for (std::size_t b = 0; b < data.blocks.size(); ++b) {
      for (int i = data.blocks[b].first; i < data.blocks[b].first + data.blocks[b].count; ++i) {
        const double y = data.y[static_cast<std::size_t>(i)], over = y - outlier_mean;
        const double r = labels[static_cast<std::size_t>(i)];
        weight[b] += (1 - r) * narrow + r * wide;
        moment[b] += (1 - r) * narrow * y + r * wide * over;
        base_ +=
            (1 - r) * (ordinary - .5 * narrow * y * y) + r * (outlying - .5 * wide * over * over);
        base_ += entropy_of(r);
      }
    }
    System system;
    assemble(system, Hypothesis{}, data, noise, weight, moment);
    const double determinant = system.precision.factor() + system.log_layout_determinant;
    auto right = system.right;
    system.precision.forward(right.data());
    base_ += .5 * system.log_prior_determinant - .5 * determinant + .5 * dot(right, right);
    for (std::size_t build = 0; build < data.measured.size(); ++build) {
      double sum = 0;
      for (int b = data.build_blocks[build]; b < data.build_blocks[build + 1]; ++b) {
        sum += moment[static_cast<std::size_t>(b)];
      }
      base_ += .5 * sum * sum / system.build_weight[build];
    }
    project(system, weight, moment, right);
  }

  double log_posterior(const Hypothesis& hypothesis) const {
    const double prior = log_prior(hypothesis, data_);
    const auto steps = static_cast<std::size_t>(hypothesis.count);
    const std::size_t k = steps + (hypothesis.odd >= 0);
    if (k == 0) return base_ + prior;
    const StepPrior step = step_prior(hypothesis, data_);
    std::array<double, std::size_t{most_effects} * most_effects> a{};
    std::array<double, most_effects> b{};
    double log = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const std::size_t g = column_of(hypothesis, i);
      for (std::size_t j = 0; j <= i; ++j)
        a[i * k + j] = cross_[g * columns_ + column_of(hypothesis, j)];
      const double mean = i < steps ? step.mean : 0;
      const double precision = 1 / (i < steps ? step.sd * step.sd : odd_variance(data_));
      a[i * k + i] += precision;
      b[i] = pull_[g] + precision * mean;
      log += .5 * std::log(precision) - .5 * precision * mean * mean;
    }
    // Cholesky factor, solution and marginal variances of at most six equations.
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = a[i * k + j];
        for (std::size_t l = 0; l < j; ++l) sum -= a[i * k + l] * a[j * k + l];
        a[i * k + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / a[j * k + j];
      }
      log -= std::log(a[i * k + i]);
      for (std::size_t l = 0; l < i; ++l) b[i] -= a[i * k + l] * b[l];
      b[i] /= a[i * k + i];
      log += .5 * b[i] * b[i];
    }
    for (std::size_t i = k; i-- > 0;) {
      b[i] /= a[i * k + i];
      for (std::size_t l = 0; l < i; ++l) b[l] -= a[i * k + l] * b[i];
    }
    for (std::size_t i = 0; i < steps; ++i) {
      log += log_allowed(step, b[i], deviation(a, k, i)) - log_allowed(step, step.mean, step.sd);
    }
    return base_ + prior + log;
  }

 private:
  static double entropy_of(double r) {
    if (r < 1e-9 || r > 1 - 1e-9) return 0;
    return -r * std::log(r) - (1 - r) * std::log(1 - r);
  }

  static constexpr int most_effects = most_steps + 1;

  // Returns the column of the i-th effect: the column of its gap. The odd wheel's column comes
  // after those of all gaps.
  std::size_t column_of(const Hypothesis& hypothesis, std::size_t i) const {
    if (i < static_cast<std::size_t>(hypothesis.count))
      return static_cast<std::size_t>(hypothesis.gaps[i]);
    return static_cast<std::size_t>(data_.gaps()) + static_cast<std::size_t>(hypothesis.odd);
  }

  static double deviation(const std::array<double, std::size_t{most_effects} * most_effects>& a,
                          std::size_t k, std::size_t i) {
    std::array<double, most_effects> u{};
    u[i] = 1;
    double sum = 0;
    for (std::size_t r = i; r < k; ++r) {
      for (std::size_t l = i; l < r; ++l) u[r] -= a[r * k + l] * u[l];
      u[r] /= a[r * k + r];
      sum += u[r] * u[r];
    }
    return std::sqrt(sum);
  }

  // Precision that a set of builds shares with each parameter of theta, and its moment.
  struct Column {
    std::vector<double> all;
    double pull = 0;

    void add(const Column& other) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += other.all[i];
      pull += other.pull;
    }
  };

  Column column_of_build(std::size_t build, const System& system, const std::vector<double>& weight,
                         const std::vector<double>& moment) const {
    Column out{std::vector<double>(system.right.size(), 0.0), 0};
    const double share = 1 / system.build_weight[build];
    const auto first = static_cast<std::size_t>(data_.build_blocks[build]);
    const auto last = static_cast<std::size_t>(data_.build_blocks[build + 1]);
    double sum = 0, moments = 0;
    for (std::size_t b = first; b < last; ++b) {
      sum += weight[b];
      moments += moment[b];
    }
    out.all[0] = sum - sum * sum * share;
    if (const int wheel = data_.measured[build].wheel; wheel >= 0)
      out.all[1 + static_cast<std::size_t>(wheel)] = out.all[0];
    out.pull = moments - sum * moments * share;
    for (std::size_t b = first; b < last; ++b)
      out.all[1 + data_.wheels.size() + static_cast<std::size_t>(data_.blocks[b].session)] +=
          weight[b] - sum * weight[b] * share;
    return out;
  }

  // Sets cross_[g, h] and pull_[g]: precision and moment of a step in g, or of an odd wheel, with
  // the other parameters integrated out.
  void project(const System& system, const std::vector<double>& weight,
               const std::vector<double>& moment, const std::vector<double>& right) {
    const std::size_t size = system.right.size(), n = columns_;
    const auto gaps = static_cast<std::size_t>(data_.gaps());
    std::vector<Column> own(n, Column{std::vector<double>(size, 0.0), 0});
    for (std::size_t build = data_.measured.size(); build-- > 0;) {
      const auto [rank, wheel, number] = data_.measured[build];
      const Column column = column_of_build(build, system, weight, moment);
      if (rank > 0) own[static_cast<std::size_t>(rank) - 1].add(column);
      if (wheel >= 0) own[gaps + static_cast<std::size_t>(wheel)].add(column);
    }
    for (std::size_t g = gaps; g-- > 1;) own[g - 1].add(own[g]);  // a step lifts all beyond it
    cross_.assign(n * n, 0);
    pull_.assign(n, 0);
    std::vector<double> all(n * size);
    for (std::size_t g = 0; g < n; ++g) {
      std::copy(own[g].all.begin(), own[g].all.end(),
                all.begin() + static_cast<std::ptrdiff_t>(g * size));
      system.precision.forward(&all[g * size]);
    }
    for (std::size_t g = 0; g < n; ++g) {
      const double* u = &all[g * size];
      pull_[g] = own[g].pull;
      for (std::size_t i = 0; i < size; ++i) pull_[g] -= u[i] * right[i];
      for (std::size_t h = 0; h <= g; ++h) {
        double sum = shared(own, g, h, gaps);
        for (std::size_t i = 0; i < size; ++i) sum -= u[i] * all[h * size + i];
        cross_[g * n + h] = sum;
        cross_[h * n + g] = sum;
      }
    }
  }

  // Precision of the builds that two columns share; h <= g.
  static double shared(const std::vector<Column>& own, std::size_t g, std::size_t h,
                       std::size_t gaps) {
    if (g < gaps || g == h) return own[g].all[0];
    if (h >= gaps) return 0;            // no build is on two wheels
    return own[h].all[1 + (g - gaps)];  // on the wheel and beyond the gap
  }

  const Data& data_;
  std::size_t columns_;  // one for each gap, then one for each wheel
  double base_ = 0;      // log evidence without steps
  std::vector<double> cross_, pull_;
};

// The best of several sets of labels for each hypothesis.
struct Screenings {
  std::vector<Screening> each;

  Screened operator()(const Hypothesis& hypothesis) const {
    Screened out{hypothesis, each[0].log_posterior(hypothesis), 0};
    for (std::size_t i = 1; i < each.size(); ++i) {
      const double bound = each[i].log_posterior(hypothesis);
      if (bound > out.log_posterior) out = {hypothesis, bound, i};
    }
    return out;
  }
};

// If the best hypothesis has `count` steps, appends its extensions by each further gap.
void extend_best(const Screenings& screening, int count, int gaps, std::vector<Screened>& out) {
  const Screened* best = nullptr;
  for (const Screened& one : out) {
    if (one.hypothesis.kind != Kind::steps || one.hypothesis.odd >= 0) continue;
    if (!best || one.log_posterior > best->log_posterior) best = &one;
  }
  if (!best || best->hypothesis.count != count) return;
  const Hypothesis base = best->hypothesis;
  for (int gap = 0; gap < gaps; ++gap) {
    if (base.has(gap)) continue;
    Hypothesis more = base;
    std::size_t at = static_cast<std::size_t>(more.count++);
    for (; at > 0 && more.gaps[at - 1] > gap; --at) more.gaps[at] = more.gaps[at - 1];
    more.gaps[at] = gap;
    out.push_back(screening(more));
  }
}

}  // namespace

std::vector<Screened> screen_hypotheses(const Data& data, const Noise& noise,
                                        std::span<const Labels> labels) {
  Screenings screening;
  for (const Labels& one : labels) screening.each.emplace_back(data, noise, one);
  std::vector<Screened> out;
  auto add = [&](const Hypothesis& hypothesis) { out.push_back(screening(hypothesis)); };
  const int wheels = static_cast<int>(data.wheels.size());
  add({});
  for (int odd = 0; odd < wheels; ++odd) {
    add({Kind::nothing, 0, {}, odd});
    for (int g = 0; g < data.gaps(); ++g) add({Kind::steps, 1, {g}, odd});
  }
  for (int g = 0; g < data.gaps(); ++g) {
    add({Kind::small, 1, {g}});
    add({Kind::better, 1, {g}});
    add({Kind::steps, 1, {g}});
    for (int h = 0; h < g; ++h) add({Kind::steps, 2, {h, g}});
  }
  for (int count = 2; count < most_steps; ++count) extend_best(screening, count, data.gaps(), out);
  std::stable_sort(out.begin(), out.end(), [](const Screened& a, const Screened& b) {
    return a.log_posterior > b.log_posterior;
  });
  return out;
}

}  // namespace nightjar::bisect::search
