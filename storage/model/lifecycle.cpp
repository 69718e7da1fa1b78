#include "storage/model/lifecycle.hpp"

#include <algorithm>

namespace nightjar {

const std::vector<LifecycleRow>& lifecycle() {
  using enum RegressionState;
  using enum Progress;
  constexpr bool begins = true, real = true, counted = true;
  // clang-format off
  static const std::vector<LifecycleRow> table{
      {suspected,    running, begins,  !real, !counted, {confirmed, dismissed, unconfirmed}},
      // Confirmed again: by what the source, the packages or the wheel were found to have done.
      {confirmed,    running, !begins, real,  counted,  {confirmed, bisecting, inconclusive, unattributed, dismissed}},
      // Begins here: a further step that the search of another regression has named.
      {bisecting,    running, begins,  real,  counted,  {blamed, range, unattributed, inconclusive, merged, dismissed}},
      {blamed,       waiting, !begins, real,  counted,  {reported, dismissed}},
      {reported,     told,    !begins, real,  counted,  {recovered, bisecting, merged, dismissed}},
      {recovered,    over,    !begins, real,  counted,  {}},
      // Its search is taken up again by an admin, or the history shows the step again.
      {dismissed,    over,    !begins, !real, !counted, {bisecting, historical}},
      {inconclusive, told,    !begins, real,  counted,  {bisecting, dismissed}},
      {merged,       over,    !begins, real,  !counted, {}},
      {unconfirmed,  waiting, !begins, !real, !counted, {suspected, unconfirmed, dismissed}},
      {range,        waiting, !begins, real,  counted,  {reported, bisecting, dismissed}},
      {unattributed, waiting, !begins, real,  counted,  {reported, bisecting, merged, dismissed}},
      {historical,   told,    begins,  real,  !counted, {dismissed}},
  };
  // clang-format on
  return table;
}

const LifecycleRow& lifecycle_of(RegressionState state) {
  return lifecycle()[static_cast<std::size_t>(state)];
}

bool may_follow(RegressionState before, RegressionState after) {
  const auto& next = lifecycle_of(before).next;
  return std::find(next.begin(), next.end(), after) != next.end();
}

std::vector<RegressionState> states_where(bool (*condition)(const LifecycleRow&)) {
  std::vector<RegressionState> states;
  for (const LifecycleRow& row : lifecycle())
    if (condition(row)) states.push_back(row.state);
  return states;
}

}  // namespace nightjar
