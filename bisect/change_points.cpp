// Finds the levels of a series by optimal partitioning, and judges each step between two of them.
#include "bisect/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bisect/partition.hpp"
#include "bisect/step.hpp"

namespace nightjar::bisect {
namespace {

// A step's cost in the partition, in units of neighbour_sd(). It only proposes, the tests decide.
constexpr double penalty_sds = 21;
constexpr int least_divided = 20;  // positions that tell the scatter of a level
// A climb of small steps is one change if it is at least this share of all that small steps move.
// So a series that wanders has none.
constexpr double least_share = .7;
constexpr std::size_t outer_side = 8;  // positions a side of the change from first to last

using Values = std::span<const double>;

class Series {
 public:
  Series(std::vector<double> logs, const DetectionPolicy& policy)
      : logs_(std::move(logs)), policy_(policy) {
    const Partition all = partitioned(0, static_cast<int>(logs_.size()));
    end_ = all.to;
    for (std::size_t i = 0; i < all.begins.size(); ++i)
      divide(all.begins[i], i + 1 < all.begins.size() ? all.begins[i + 1] : end_);
    tests_ = static_cast<int>(begins_.size()) - 1;
    for (std::size_t i = 1; i < begins_.size(); ++i) steps_.push_back(step(i, i));
    for (auto weak = weakest(); weak; weak = weakest()) drop(*weak);
  }

  const std::vector<int>& begins() const { return begins_; }
  const std::vector<JudgedStep>& steps() const { return steps_; }  // the first leads to level 1
  int tests() const { return tests_; }

  // From the level before level `first` to level `last`.
  JudgedStep step(std::size_t first, std::size_t last) const {
    const auto before = level(first - 1), after = level(last);
    return judge_step(before.last(std::min(most_side, before.size())),
                      after.first(std::min(most_side, after.size())), policy_);
  }

  JudgedStep whole() const {
    const auto before = level(0), after = level(begins_.size() - 1);
    return judge_step(before.first(std::min(outer_side, before.size())),
                      after.last(std::min(outer_side, after.size())), policy_);
  }

 private:
  Partition partitioned(int from, int to) const {
    const auto values =
        Values(logs_).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
    return optimal_partition(values, shortest_level, penalty_sds * neighbour_sd(values));
  }

  // Divides each level again by its own scatter: a quiet one has steps that the scatter of the
  // whole series hides.
  void divide(int from, int to) {
    const bool is_long = to - from >= least_divided;
    const std::vector<int> inner = is_long ? partitioned(from, to).begins : std::vector<int>{0};
    if (inner.size() == 1) {
      begins_.push_back(from);
      return;
    }
    for (std::size_t i = 0; i < inner.size(); ++i)
      divide(i == 0 ? from : from + inner[i], i + 1 < inner.size() ? from + inner[i + 1] : to);
  }

  Values level(std::size_t i) const {
    const auto from = static_cast<std::size_t>(begins_[i]);
    const auto to = static_cast<std::size_t>(i + 1 < begins_.size() ? begins_[i + 1] : end_);
    return Values(logs_).subspan(from, to - from);
  }

  // Returns the step with the least evidence among those that fail; nullopt if none does.
  std::optional<std::size_t> weakest() const {
    std::vector<std::size_t> order(steps_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      if (steps_[a].p != steps_[b].p) return steps_[a].p < steps_[b].p;
      return steps_[a].size() > steps_[b].size();
    });
    std::optional<std::size_t> weak;
    bool passes = true;  // Holm: after the first step that fails, all others fail, too
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      const JudgedStep& step = steps_[order[rank]];
      passes = passes && step.p * (tests_ - static_cast<int>(rank)) <= most_p;
      if (!passes || !step.stands) weak = order[rank];
    }
    return weak;
  }

  // Makes one level of both sides of a step.
  void drop(std::size_t step_index) {
    const auto at = static_cast<std::ptrdiff_t>(step_index);
    begins_.erase(begins_.begin() + at + 1);
    steps_.erase(steps_.begin() + at);
    if (step_index > 0) steps_[step_index - 1] = step(step_index, step_index);
    if (step_index < steps_.size()) steps_[step_index] = step(step_index + 1, step_index + 1);
  }

  std::vector<double> logs_;
  const DetectionPolicy& policy_;
  std::vector<int> begins_;
  int end_ = 0;  // of the last level
  std::vector<JudgedStep> steps_;
  int tests_ = 0;
};

bool reaches(const JudgedStep& step, const DetectionPolicy& policy) {
  return step.size() >= std::log1p(policy.threshold) &&
         std::abs(step.after - step.before) >= policy.least_change;
}

// Turns steps into changes, and small ones of one direction into one.
class Reader {
 public:
  Reader(const Series& series, std::span<const Position> positions, const DetectionPolicy& policy)
      : series_(series), positions_(positions), policy_(policy) {
    for (const JudgedStep& step : series.steps()) small_ += reaches(step, policy) ? 0 : step.size();
  }

  Levels read() {
    Levels out{series_.begins(), series_.tests(), {}, {}, {}, false};
    out.begins.front() = 0;
    for (std::size_t first = 0; first < series_.steps().size();) {
      const std::size_t last = last_of_climb(first);
      const JudgedStep judged =
          first == last ? series_.steps()[first] : series_.step(first + 1, last + 1);
      const bool wanders = first != last && judged.size() < least_share * small_;
      if (judged.p <= most_p && judged.stands && reaches(judged, policy_) && !wanders)
        out.changes.push_back(change(judged, first, last));
      else
        for (std::size_t i = first; i <= last; ++i) note_below(out, i);
      first = last + 1;
    }
    if (!series_.steps().empty()) {
      const JudgedStep whole = series_.whole();
      out.whole = change(whole, 0, series_.steps().size() - 1);
      out.whole_counts = whole.p <= most_p && whole.stands && reaches(whole, policy_);
    }
    return out;
  }

 private:
  // A step that reaches the threshold stands alone.
  std::size_t last_of_climb(std::size_t first) const {
    const auto& steps = series_.steps();
    std::size_t last = first;
    if (reaches(steps[first], policy_)) return last;
    while (last + 1 < steps.size() && steps[last + 1].rises() == steps[first].rises() &&
           !reaches(steps[last + 1], policy_))
      ++last;
    return last;
  }

  Change change(const JudgedStep& judged, std::size_t first, std::size_t last) const {
    const auto position_of = [&](std::size_t step) {
      return positions_[static_cast<std::size_t>(series_.begins()[step + 1])].position;
    };
    return {position_of(first),
            position_of(last),
            static_cast<int>(last - first) + 1,
            judged.rises() == (policy_.direction == Direction::lower_is_better),
            judged.before,
            judged.after,
            judged.ratio};
  }

  void note_below(Levels& out, std::size_t i) const {
    const JudgedStep& step = series_.steps()[i];
    if (!out.below || step.size() > std::abs(std::log(out.below->ratio.ratio)))
      out.below = change(step, i, i);
  }

  const Series& series_;
  std::span<const Position> positions_;
  const DetectionPolicy& policy_;
  double small_ = 0;
};

}  // namespace

std::vector<Position> positions_of(std::span<const double> values) {
  std::vector<Position> positions;
  for (const double value : values)
    positions.push_back({static_cast<long long>(positions.size()), {value}});
  return positions;
}

Levels find_levels(std::span<const Position> series, const DetectionPolicy& policy) {
  std::vector<double> logs;
  for (const Position& position : series) {
    const double middle = median(position.runs);
    if (!(middle > 0)) throw std::invalid_argument("change points need positive values");
    logs.push_back(std::log(middle));
  }
  return Reader(Series(std::move(logs), policy), series, policy).read();
}

std::vector<Change> change_points(std::span<const Position> series, const DetectionPolicy& policy) {
  return find_levels(series, policy).changes;
}

}  // namespace nightjar::bisect
