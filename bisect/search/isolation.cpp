#include "bisect/search/isolation.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "bisect/search/decide.hpp"
#include "bisect/search/wheels.hpp"
#include "storage/base/foreign_number.hpp"

namespace nightjar::bisect::search {
namespace {

// A difference of origins counts as measured if its sd is at most this share of the step.
constexpr double known_difference = .2;

int origin_of(int number, const SearchLog& log) {
  return log.origins[static_cast<std::size_t>(number)];
}

const std::vector<int>& served_by(int commit, const SearchLog& log) {
  static const std::vector<int> none;
  const auto at = static_cast<std::size_t>(commit);
  return at < log.wheels.size() ? log.wheels[at] : none;
}

// How many runs each wheel has at a rank.
int runs_on(int rank, int number, const Data& data) {
  int runs = 0;
  for (std::size_t build = 0; build < data.measured.size(); ++build) {
    if (data.measured[build].rank != rank || data.measured[build].number != number) continue;
    for (int b = data.build_blocks[build]; b < data.build_blocks[build + 1]; ++b)
      runs += data.blocks[static_cast<std::size_t>(b)].count;
  }
  return runs;
}

// All wheels that the commit of this rank was measured on, or can be.
std::set<int> wheels_at(int rank, const Data& data, const SearchLog& log) {
  const auto& served = served_by(data.commits[static_cast<std::size_t>(rank)], log);
  std::set<int> out(served.begin(), served.end());
  for (const MeasuredBuild& build : data.measured)
    if (build.rank == rank && build.number >= 0) out.insert(build.number);
  return out;
}

// Whether the commit of this rank can be measured on the wheel now. A verdict that is judged again
// does not say.
bool is_here(int rank, int number, const Data& data, const SearchLog& log) {
  const auto& served = served_by(data.commits[static_cast<std::size_t>(rank)], log);
  return log.wheels.empty() || std::find(served.begin(), served.end(), number) != served.end();
}

// Which of Data's wheels are compared with one another by commits that were measured on both.
class Bridges {
 public:
  Bridges(const Data& data, int odd) : root_(data.wheels.size()) {
    std::iota(root_.begin(), root_.end(), std::size_t{0});
    for (std::size_t w = 0; w < root_.size(); ++w)
      for (std::size_t v = 0; v < w; ++v)
        if (is_of(data.wheels[w].origin, v, data, odd) && static_cast<int>(w) != odd) join(v, w);
    for (const MeasuredBuild& a : data.measured)
      for (const MeasuredBuild& b : data.measured)
        if (a.rank == b.rank && a.wheel >= 0 && b.wheel >= 0)
          join(static_cast<std::size_t>(a.wheel), static_cast<std::size_t>(b.wheel));
  }
  bool connect(int a, int b) const {
    return a == b || (a >= 0 && b >= 0 &&
                      root(static_cast<std::size_t>(a)) == root(static_cast<std::size_t>(b)));
  }

 private:
  std::size_t root(std::size_t wheel) const {
    while (root_[wheel] != wheel) wheel = root_[wheel];
    return wheel;
  }
  void join(std::size_t a, std::size_t b) { root_[root(a)] = root(b); }

  std::vector<std::size_t> root_;
};

// What the second wheel adds to the first, and its sd.
std::pair<double, double> difference(const Fit& fit, int from, int to) {
  if (from == to) return {0, 0};
  Row row{std::vector<double>(fit.theta.size(), 0.0), 0};
  row.x[fit.wheel_at(to)] = 1;
  row.x[fit.wheel_at(from)] = -1;
  return {fit.wheel_effect(to) - fit.wheel_effect(from), std::sqrt(variance(fit, std::move(row)))};
}

class Comparison {
 public:
  Comparison(const Posterior& posterior, const SearchLog& log)
      : data_(posterior.data),
        log_(log),
        fit_(posterior.fits[static_cast<std::size_t>(std::max(posterior.best_steps(), 0))]),
        bridges_(data_, fit_.hypothesis.odd) {}

  Means means(int good, int bad, double size) const {
    if (good == bad) return Means::wheel;
    const int a = data_.wheel_index(good), b = data_.wheel_index(bad);
    const int odd = fit_.hypothesis.odd;
    if (origin_of(good, log_) == origin_of(bad, log_) && (odd < 0 || (a != odd && b != odd)))
      return Means::origin;
    if (a < 0 || b < 0 || !bridges_.connect(a, b)) return Means::nothing;
    return difference(fit_, a, b).second <= known_difference * size ? Means::bridge
                                                                    : Means::nothing;
  }
  double measured_difference(int good, int bad) const {
    return difference(fit_, data_.wheel_index(good), data_.wheel_index(bad)).first;
  }

 private:
  const Data& data_;
  const SearchLog& log_;
  const Fit& fit_;
  Bridges bridges_;
};

// Whether a builder can make a wheel for a commit that has another one already.
bool can_be_made(int commit, const SearchLog& log) {
  const auto& not_made = log.no_other_wheel;
  return log.builder_origin >= 0 && !served_by(commit, log).empty() &&
         std::find(not_made.begin(), not_made.end(), commit) == not_made.end();
}

// What shows the difference between the origins on both sides of a gap.
class BridgeFinder {
 public:
  BridgeFinder(int gap, double size, const Posterior& posterior, const SearchLog& log,
               const SearchPolicy& policy)
      : gap_(gap),
        size_(size),
        posterior_(posterior),
        data_(posterior.data),
        log_(log),
        policy_(policy),
        good_(wheels_at(gap, data_, log)),
        bad_(wheels_at(gap + 1, data_, log)) {}

  std::optional<Measure> find() const {
    if (auto both = on_both()) return both;
    for (const int side : {0, 1}) {
      const int rank = gap_ + side;
      const int commit = data_.commits[static_cast<std::size_t>(rank)];
      const auto& other = side == 0 ? bad_ : good_;
      const bool has_builders = std::any_of(other.begin(), other.end(), [&](int wheel) {
        return origin_of(wheel, log_) == log_.builder_origin;
      });
      if (has_builders && can_be_made(commit, log_)) return of(commit, {-1}, 1);
    }
    return std::nullopt;
  }

  // One wheel may be odd. So beyond a step between wheels, and before it, its level is to be seen
  // on a second wheel of the origin, if one is here that no other claimed step lies before.
  std::optional<Measure> another_wheel(const Sides& sides, const Claim& claim) const {
    for (const bool bad : {true, false}) {
      const auto [first, last] = level_of(bad, claim);
      const int own = bad ? sides.bad : sides.good;
      const int runs = runs_to_see();
      std::optional<Measure> best;
      bool seen = false;
      for (int commit = first; commit <= last && !seen; ++commit) {
        for (const int wheel : served_by(commit, log_)) {
          if (wheel == own || origin_of(wheel, log_) != origin_of(own, log_)) continue;
          const int have = runs_of(commit, wheel);
          seen |= have >= runs;
          if (!best && is_testable(commit)) best = of(commit, {wheel}, runs - have);
        }
      }
      if (!seen && best) return best;
    }
    return std::nullopt;
  }

 private:
  // The commits at the level on one side of the gap, as far as the next claimed step.
  std::pair<int, int> level_of(bool bad, const Claim& claim) const {
    int from = bad ? gap_ + 1 : 0, to = bad ? data_.gaps() : gap_;  // ranks
    for (const int other : claim.gaps) {
      if (bad && other > gap_) to = std::min(to, other);
      if (!bad && other < gap_) from = std::max(from, other + 1);
    }
    return {data_.commits[static_cast<std::size_t>(from)],
            data_.commits[static_cast<std::size_t>(to)]};
  }
  bool is_testable(int commit) const {
    return std::find(log_.untestable.begin(), log_.untestable.end(), commit) ==
           log_.untestable.end();
  }
  // That tell a level from one that is a step away, with three standard errors.
  int runs_to_see() const {
    const double runs = 9 * posterior_.noise.run / (size_ * size_);
    return clamped_integer<int>(std::ceil(runs), 1, largest_batch(posterior_));
  }

  // The commit and two wheels of it, one of each side's origins, of which most was measured.
  std::optional<Measure> on_both() const {
    std::optional<Measure> best;
    int most = -1;
    for (int commit = 0; commit <= log_.commits; ++commit) {
      if (!is_testable(commit)) continue;
      for (const int a : served_by(commit, log_))
        for (const int b : served_by(commit, log_)) {
          if (a == b || !is_like(a, good_) || !is_like(b, bad_)) continue;
          const int runs = runs_of(commit, a) + runs_of(commit, b);
          if (runs <= most) continue;
          most = runs;
          best = of(commit, {a, b}, runs_wanted());
        }
    }
    return best;
  }
  bool is_like(int wheel, const std::set<int>& side) const {
    return std::any_of(side.begin(), side.end(), [&](int other) {
      return wheel == other || origin_of(wheel, log_) == origin_of(other, log_);
    });
  }
  int runs_of(int commit, int wheel) const {
    const auto at = std::lower_bound(data_.commits.begin(), data_.commits.end(), commit);
    if (at == data_.commits.end() || *at != commit) return 0;
    return runs_on(static_cast<int>(at - data_.commits.begin()), wheel, data_);
  }
  // A side, until the difference is known well enough; a third of them at once.
  int runs_wanted() const {
    const double sd = known_difference * size_;
    const double all = 2 * posterior_.noise.run / (sd * sd);
    return clamped_integer<int>(std::ceil(all / 3), 1, largest_batch(posterior_) / 2);
  }
  Measure of(int commit, std::vector<int> wheels, int runs) const {
    Measure out;
    out.new_session = data_.in_session + 2 * runs > policy_.session_runs;
    for (int i = 0; i < runs; ++i) {
      out.order.insert(out.order.end(), wheels.size(), commit);
      out.wheels.insert(out.wheels.end(), wheels.begin(), wheels.end());
      std::reverse(wheels.begin(), wheels.end());
    }
    return out;
  }

  int gap_;
  double size_;
  const Posterior& posterior_;
  const Data& data_;
  const SearchLog& log_;
  const SearchPolicy& policy_;
  std::set<int> good_, bad_;
};

// The first build of a rank that was measured.
const MeasuredBuild& first_build(int rank, const Data& data) {
  const MeasuredBuild* first = nullptr;
  int session = 0;
  for (std::size_t build = 0; build < data.measured.size(); ++build) {
    if (data.measured[build].rank != rank) continue;
    const int begins = data.blocks[static_cast<std::size_t>(data.build_blocks[build])].session;
    if (first && begins >= session) continue;
    first = &data.measured[build];
    session = begins;
  }
  return *first;
}

}  // namespace

Sides sides_of(int gap, double size, const Posterior& posterior, const SearchLog& log) {
  if (log.origins.empty()) return {};
  const Data& data = posterior.data;
  const Comparison comparison(posterior, log);
  Sides best{-1, -1, Means::nothing, 0};
  std::tuple<bool, bool, Means, int> quality{false, false, Means::nothing, -1};
  for (const int good : wheels_at(gap, data, log)) {
    for (const int bad : wheels_at(gap + 1, data, log)) {
      const Means means = comparison.means(good, bad, size);
      const int runs = std::min(runs_on(gap, good, data), runs_on(gap + 1, bad, data));
      // What is not here any more cannot be measured again.
      const bool here = is_here(gap, good, data, log) && is_here(gap + 1, bad, data, log);
      const std::tuple offered(means != Means::nothing, here, means, runs);
      if (offered <= quality) continue;
      quality = offered;
      best = {good, bad, means, 0};
      if (means == Means::bridge) best.difference = comparison.measured_difference(good, bad);
    }
  }
  return best;
}

bool all_isolated(const std::vector<int>& gaps, int fit, const Posterior& posterior,
                  const SearchLog& log) {
  const Fit& of = posterior.fits[static_cast<std::size_t>(fit)];
  for (int k = 0; k < of.hypothesis.count; ++k) {
    const int gap = of.hypothesis.gaps[static_cast<std::size_t>(k)];
    if (std::find(gaps.begin(), gaps.end(), gap) == gaps.end()) continue;
    if (sides_of(gap, std::max(of.step(k), least_step), posterior, log).means == Means::nothing)
      return false;
  }
  return true;
}

EndWheels end_wheels(const Posterior& posterior) {
  const Data& data = posterior.data;
  if (data.wheels.empty()) return {};
  const int good = first_build(0, data).wheel, bad = first_build(data.gaps(), data).wheel;
  const Fit& fit = posterior.fits.front();
  const auto [size, sd] = difference(fit, good, bad);
  // The ends' own wheels may be of one origin, and yet differ: only commits on two wheels tell.
  const bool suspect = fit.hypothesis.odd == good || fit.hypothesis.odd == bad;
  return {size, sd, Bridges(data, suspect ? fit.hypothesis.odd : bad).connect(good, bad)};
}

bool ends_are_apart(const Posterior& posterior) {
  constexpr double certain = 4;  // sd
  const Data& data = posterior.data;
  if (data.wheels.empty()) return false;
  const int good = first_build(0, data).wheel, bad = first_build(data.gaps(), data).wheel;
  const Fit& fit = posterior.fits.front();
  Row row{std::vector<double>(fit.theta.size(), 0.0), 0};
  for (int k = 0; k < fit.hypothesis.count; ++k) row.x[static_cast<std::size_t>(k) + 1] = 1;
  row.x[fit.wheel_at(bad)] += 1;
  row.x[fit.wheel_at(good)] -= 1;
  const double size =
      fit.level(data.gaps()) - fit.level(0) + fit.wheel_effect(bad) - fit.wheel_effect(good);
  return size > std::max(least_step, certain * std::sqrt(variance(fit, std::move(row))));
}

int usual_wheel_of(int commit, const Data& data, const SearchLog& log) {
  const auto& served = served_by(commit, log);
  int best = served.empty() ? -1 : served.front(), nearest = log.commits + 1;
  for (const MeasuredBuild& build : data.measured) {
    const int apart = std::abs(data.commits[static_cast<std::size_t>(build.rank)] - commit);
    if (apart >= nearest || std::find(served.begin(), served.end(), build.number) == served.end())
      continue;
    nearest = apart;
    best = build.number;
  }
  return best;
}

std::vector<int> wheels_for(int commit, int gap, const Data& data, const SearchLog& log) {
  const auto& served = served_by(commit, log);
  if (served.empty()) return {-1};
  // One that was measured on both sides needs no bridge, and one that was on a side hardly any.
  std::vector<int> best;
  int most = -1;
  std::set<int> origins;
  for (const int number : served) {
    const int sides = (runs_on(gap, number, data) > 0) + (runs_on(gap + 1, number, data) > 0);
    if (sides < most) continue;
    if (sides > most) {
      best.clear();
      origins.clear();
    }
    most = sides;
    // Among wheels that were never measured, one of each origin is enough.
    if (data.wheel_index(number) < 0 && !origins.insert(origin_of(number, log)).second) continue;
    best.push_back(number);
  }
  return best;
}

std::vector<int> bridges_at(int rank, const Data& data, const SearchLog& log) {
  if (log.origins.empty()) return {};
  const int commit = data.commits[static_cast<std::size_t>(rank)];
  std::vector<int> out;
  bool has_builders = false;
  for (const int number : wheels_at(rank, data, log)) {
    has_builders |= origin_of(number, log) == log.builder_origin;
    if (runs_on(rank, number, data) == 0) out.push_back(number);
  }
  if (!has_builders && can_be_made(commit, log)) out.push_back(-1);
  return out;
}

std::optional<Measure> bridge(const Claim& claim, const Posterior& posterior, const SearchLog& log,
                              const SearchPolicy& policy) {
  const Fit& fit = posterior.fits[static_cast<std::size_t>(claim.fit)];
  for (int k = 0; k < fit.hypothesis.count; ++k) {
    const int gap = fit.hypothesis.gaps[static_cast<std::size_t>(k)];
    const double size = std::max(fit.step(k), least_step);
    if (!claim.has(gap)) continue;
    const Sides sides = sides_of(gap, size, posterior, log);
    const BridgeFinder finder(gap, size, posterior, log, policy);
    if (sides.means == Means::nothing) {
      if (auto step = finder.find()) return step;
    } else if (sides.good != sides.bad) {
      if (auto step = finder.another_wheel(sides, claim)) return step;
    }
  }
  return std::nullopt;
}

}  // namespace nightjar::bisect::search
