// Finds change points in the medians of positions by binary segmentation: the best split first,
// then each segment by itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "bisect/detection.hpp"

namespace nightjar::bisect {
namespace {

constexpr std::array<int, 3> windows = {8, 16, 32};
constexpr int shortest_side = 5;  // a level of fewer positions counts as a spike
constexpr double least_z = 3;
constexpr double most_p = .01;        // after correction for every split and window tested
constexpr double least_scatters = 1;  // the shift in units of the scatter of positions

struct Split {
  int at = 0;    // index of the first position of the new level
  double z = 0;  // signed
  double p = 1;
  double change = 0;  // of logs
};

class Levels {
 public:
  Levels(std::vector<double> values, double least_change)
      : values_(std::move(values)), least_change_(least_change) {}
  int size() const { return static_cast<int>(values_.size()); }

  std::span<const double> part(int from, int to) const {
    return std::span(values_).subspan(static_cast<std::size_t>(from),
                                      static_cast<std::size_t>(to - from));
  }

  // The best split of [from, to), or none.
  std::optional<Split> best_split(int from, int to) const {
    std::optional<Split> best;
    for (const int window : windows) {
      for (int at = from + shortest_side; at + shortest_side <= to; ++at) {
        const auto split = judge(at, from, to, window);
        if (split && (!best || std::abs(split->z) > std::abs(best->z))) best = split;
      }
    }
    if (best) best->at = sharpened(*best, from, to);
    return best;
  }

  // The change at `at` with `window` positions on each side, or none. A side that ends early leaves
  // its share to the other.
  std::optional<Split> judge(int at, int from, int to, int window) const {
    int left = std::min(window, at - from), right = std::min(window, to - at);
    if (left < window) right = std::min(2 * window - left, to - at);
    if (right < window) left = std::min({2 * window - right + window, at - from});
    const auto before = part(at - left, at), after = part(at, at + right);
    Split split{at, mann_whitney_z(before, after), 1, 0};
    if (std::abs(split.z) <= least_z) return std::nullopt;
    split.change = std::log(ratio(before, after));
    if (std::abs(split.change) < least_change_) return std::nullopt;
    if (std::abs(split.change) < least_scatters * scatter(before, after)) return std::nullopt;
    split.p = mann_whitney_p(before, after);
    if (split.p * size() * static_cast<int>(windows.size()) > most_p) return std::nullopt;
    return split;
  }

  static double ratio(std::span<const double> before, std::span<const double> after) {
    return shift(exponentials(before), exponentials(after), .95).ratio;
  }
  static std::vector<double> exponentials(std::span<const double> logs) {
    std::vector<double> out;
    for (double value : logs) out.push_back(std::exp(value));
    return out;
  }

 private:
  static double scatter(std::span<const double> before, std::span<const double> after) {
    std::vector<double> rest;
    for (const auto side : {before, after}) {
      const double middle = median(side);
      for (double value : side) rest.push_back(value - middle);
    }
    return robust_sd(rest);
  }

  // The split near `split` that minimises the absolute deviations from both sides' medians.
  int sharpened(const Split& split, int from, int to) const {
    const int reach = windows.front();
    const int low = std::max(from, split.at - 2 * reach), high = std::min(to, split.at + 2 * reach);
    int best = split.at;
    double least = deviations(low, best) + deviations(best, high);
    for (int at = std::max(low + 1, split.at - reach); at < std::min(high, split.at + reach);
         ++at) {
      if (at - from < shortest_side || to - at < shortest_side) continue;
      const double sum = deviations(low, at) + deviations(at, high);
      if (sum < least) {
        least = sum;
        best = at;
      }
    }
    return best;
  }

  double deviations(int from, int to) const {
    const double middle = median(part(from, to));
    double sum = 0;
    for (double value : part(from, to)) sum += std::abs(value - middle);
    return sum;
  }

  std::vector<double> values_;
  double least_change_;
};

// Whether a noiseless step at `at` is found in a series of `size`, between changes at `from` and
// `to`.
bool is_found(int size, int from, int at, int to) {
  std::vector<double> logs;
  for (int i = 0; i < size; ++i) logs.push_back(1e-9 * i + (i < at ? 0 : 1));
  const Levels levels(std::move(logs), 0);
  return std::any_of(windows.begin(), windows.end(),
                     [&](int window) { return levels.judge(at, from, to, window).has_value(); });
}

// The shortest side of a segment of `positions` for which `is_found_at` holds; 0: none.
template <class Predicate>
int least_side(int positions, Predicate is_found_at) {
  const int longest = std::min(positions - shortest_side, 2 * windows.back());
  for (int side = shortest_side; side <= longest; ++side)
    if (is_found_at(side)) return side;
  return 0;
}

void find_splits(const Levels& levels, int from, int to, std::vector<int>& found) {
  const auto split = levels.best_split(from, to);
  if (!split) return;
  found.push_back(split->at);
  find_splits(levels, from, split->at, found);
  find_splits(levels, split->at, to, found);
}

// Judges each split again between its final neighbours and drops those that fail, until all pass.
void drop_unfounded(const Levels& levels, std::vector<int>& splits) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < splits.size() && !changed; ++i) {
      const int from = i == 0 ? 0 : splits[i - 1];
      const int to = i + 1 == splits.size() ? levels.size() : splits[i + 1];
      const bool stands = std::any_of(windows.begin(), windows.end(), [&](int window) {
        return levels.judge(splits[i], from, to, window).has_value();
      });
      if (!stands) {
        splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(i));
        changed = true;
      }
    }
  }
}

}  // namespace

ShortestLevels shortest_levels(int positions, int first, int last) {
  const int from = positions - last;
  return {least_side(first, [&](int side) { return is_found(positions, 0, side, first); }),
          least_side(last, [&](int side) {
            return is_found(positions, from, positions - side, positions);
          })};
}

int shortest_series() {
  int positions = 2 * shortest_side;
  while (shortest_levels(positions, positions, positions).end == 0) ++positions;
  return positions;
}

std::vector<Position> positions_of(std::span<const double> values) {
  std::vector<Position> positions;
  for (const double value : values)
    positions.push_back({static_cast<long long>(positions.size()), {value}});
  return positions;
}

std::vector<Change> change_points(std::span<const Position> series, const DetectionPolicy& policy) {
  std::vector<double> logs;
  for (const Position& position : series) {
    const double middle = median(position.runs);
    if (!(middle > 0)) throw std::invalid_argument("change points need positive values");
    logs.push_back(std::log(middle));
  }
  const Levels levels(std::move(logs), std::log1p(policy.threshold));
  std::vector<int> splits;
  find_splits(levels, 0, levels.size(), splits);
  std::sort(splits.begin(), splits.end());
  drop_unfounded(levels, splits);

  std::vector<Change> changes;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const int from = i == 0 ? 0 : splits[i - 1];
    const int to = i + 1 == splits.size() ? levels.size() : splits[i + 1];
    const auto before = Levels::exponentials(levels.part(from, splits[i]));
    const auto after = Levels::exponentials(levels.part(splits[i], to));
    Change change;
    change.position = series[static_cast<std::size_t>(splits[i])].position;
    change.before = hodges_lehmann(before);
    change.after = hodges_lehmann(after);
    change.ratio = shift(before, after, policy.confidence);
    change.worse = (change.ratio.ratio > 1) == (policy.direction == Direction::lower_is_better);
    changes.push_back(change);
  }
  return changes;
}

}  // namespace nightjar::bisect
