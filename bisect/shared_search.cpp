#include "bisect/shared_search.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace nightjar::bisect {
namespace {

void add_once(std::vector<int>& list, int commit) {
  if (std::find(list.begin(), list.end(), commit) == list.end()) list.push_back(commit);
}

SearchLog in_costs(SearchLog log, bool seeks_less) {
  if (seeks_less)
    for (SearchRun& run : log.runs) run.value = 1 / run.value;
  return log;
}

// Which share of the commits that `wanted` asks for is measured by `made`.
double served_by(const std::set<int>& made, const Measure& wanted) {
  const std::set<int> commits(wanted.order.begin(), wanted.order.end());
  const auto hits =
      std::count_if(commits.begin(), commits.end(), [&](int one) { return made.contains(one); });
  return commits.empty() ? 0 : static_cast<double>(hits) / static_cast<double>(commits.size());
}

// The chance that the part finds something, for which its requests count. A benchmark that hardly
// moves must not spend the budget of one that does, but neither may it wait for ever.
double hope_of(const SharedPart& part) {
  constexpr double least_hope = .01;
  return std::max(least_hope, 1 - part.belief.nothing - part.belief.too_small);
}

}  // namespace

SharedSearch::SharedSearch(int commits, const SearchPolicy& policy) : policy_(policy) {
  empty_.commits = commits;
}

void SharedSearch::add(bool seeks_less) {
  SharedPart part;
  part.seeks_less = seeks_less;
  part.log = empty_;
  parts_.push_back(std::move(part));
  wanted_.emplace_back();
}

void SharedSearch::take(int session, int commit, const std::vector<std::optional<double>>& values) {
  ++runs_;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!values[i]) continue;
    parts_[i].log.runs.push_back({session, commit, *values[i]});
    const auto& order = wanted_[i].order;
    if (std::find(order.begin(), order.end(), commit) == order.end()) ++parts_[i].runs_for_others;
  }
}

void SharedSearch::note_untestable(int commit) {
  add_once(empty_.untestable, commit);
  for (SharedPart& part : parts_) add_once(part.log.untestable, commit);
}

void SharedSearch::note_untestable(std::size_t part, int commit) {
  add_once(parts_[part].log.untestable, commit);
}

void SharedSearch::note_built(int commit) {
  if (commit == 0 || commit == empty_.commits) return;
  add_once(empty_.built, commit);
  for (SharedPart& part : parts_) add_once(part.log.built, commit);
}

void SharedSearch::decide(SharedPart& part, Measure& wanted) const {
  SearchPolicy policy = policy_;
  policy.of_inverses = part.seeks_less;
  policy.searches = std::max(1, static_cast<int>(parts_.size()));
  policy.runs_for_others = part.runs_for_others;
  // The budget is the whole search's, also where a run gave this benchmark no number.
  policy.max_runs -= runs_ - static_cast<int>(part.log.runs.size());
  NextStep next = next_step(in_costs(part.log, part.seeks_less), policy);
  part.belief = std::move(next.belief);
  part.answered_after = part.log.runs.size();
  if (auto* answer = std::get_if<Answer>(&next.step)) part.answer = std::move(*answer);
  wanted = part.answer ? Measure{} : std::get<Measure>(std::move(next.step));
}

void SharedSearch::restore(std::size_t part, std::size_t answered_after, int runs_for_others) {
  SharedPart& restored = parts_[part];
  restored.runs_for_others = runs_for_others;
  if (answered_after == 0 || answered_after > restored.log.runs.size()) return;
  SharedPart then = restored;
  then.log.runs.resize(answered_after);
  decide(then, wanted_[part]);
  if (!then.answer) return;
  restored.answer = std::move(then.answer);
  restored.belief = std::move(then.belief);
  restored.answered_after = answered_after;
}

std::optional<Measure> SharedSearch::next() {
  if (parts_.empty()) return std::get<Measure>(next_step(empty_, policy_).step);
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].is_open()) decide(parts_[i], wanted_[i]);
  double best = 0;
  std::optional<Measure> chosen;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].is_open()) continue;
    const std::set<int> made(wanted_[i].order.begin(), wanted_[i].order.end());
    double serves = 0;
    for (std::size_t j = 0; j < parts_.size(); ++j)
      if (parts_[j].is_open()) serves += hope_of(parts_[j]) * served_by(made, wanted_[j]);
    if (chosen && serves <= best) continue;
    best = serves;
    served_ = i;
    chosen = wanted_[i];
  }
  return chosen;
}

}  // namespace nightjar::bisect
