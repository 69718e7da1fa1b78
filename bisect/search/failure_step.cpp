// The next step of a search for failures: an answer, a confirmation, or the most telling run.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bisect/search/failures.hpp"
#include "storage/base/foreign_number.hpp"

namespace nightjar::bisect::search {
namespace {

using Outcome = Answer::Outcome;

constexpr double claims_from = .8, nothing_from = .1;  // from here on a claim is confirmed
constexpr double most_further_runs = .10;  // chance of a further step that an answer leaves open
constexpr double odds_to_confirm = 1.6;    // log odds of fresh runs alone, about 5 to 1
constexpr int fewest_fresh = 3;            // runs of each side in a confirmation
constexpr int most_at_once = 4;            // runs until the posterior is asked again

struct FailureClaim {
  std::vector<int> gaps;
  double real = 0, further = 0;  // P(all of them are rises), P(they are, and there is another)
};

double real_of(const std::vector<int>& gaps, const std::vector<FailureHypothesis>& hypotheses) {
  double sum = 0;
  for (const auto& one : hypotheses) sum += one.share * one.has_rises(gaps);
  return sum;
}

FailureClaim claim_of(const std::vector<FailureHypothesis>& hypotheses) {
  FailureClaim out;
  for (const auto& one : hypotheses) {
    for (int k = 0; k < one.steps(); ++k)
      if (one.rises[static_cast<std::size_t>(k)] > .5)
        out.gaps.push_back(one.gaps[static_cast<std::size_t>(k)]);
    if (!out.gaps.empty()) break;
  }
  if (out.gaps.empty()) return out;
  out.real = real_of(out.gaps, hypotheses);
  for (const auto& one : hypotheses)
    if (one.steps() > static_cast<int>(out.gaps.size()))
      out.further += one.share * one.has_rises(out.gaps);
  return out;
}

class FailureSearch {
 public:
  FailureSearch(const SearchLog& log, const SearchPolicy& policy)
      : log_(log),
        policy_(policy),
        data_(pack_failures(log)),
        hypotheses_(infer_failures(data_, policy.threshold)),
        claim_(claim_of(hypotheses_)) {
    for (const auto& one : hypotheses_) {
      double rises = 0;
      for (int k = 0; k < one.steps(); ++k)
        rises = std::max(rises, one.rises[static_cast<std::size_t>(k)]);
      idle_ += one.share * (1 - rises);
    }
  }

  NextStep operator()() const {
    NextStep out{Answer{}, belief()};
    const auto decided = decide();
    std::visit([&](const auto& one) { out.step = one; }, decided);
    return out;
  }

 private:
  std::variant<Measure, Answer> decide() const {
    if (idle_ > policy_.certainty) return nobody("not reproduced");
    const bool promising = is_cell() && claim_.real >= claims_from && idle_ <= nothing_from;
    if (promising) {
      const auto confirming = confirmation(claim_.gaps);
      const bool sure = claim_.real >= policy_.certainty && claim_.further <= most_further_runs;
      if (!confirming && sure) return named(claim_.gaps, "");
      if (confirming && !is_spent()) return *confirming;
    }
    if (is_spent()) return spent();
    const bool only_ends = data_.commits.size() == 2 && log_.untestable.empty();
    if (only_ends && data_.runs >= policy_.reproduce_runs)
      return nobody("not reproduced within the runs allowed for it");
    return usual_step();
  }

  bool is_spent() const { return data_.runs >= policy_.max_runs; }

  Measure usual_step() const {
    const auto [commit, runs] = choose_failure_run(data_, hypotheses_, log_, policy_);
    Measure out;
    const int at_once = std::clamp((runs + 1) / 2, 1, most_at_once);
    out.order.assign(static_cast<std::size_t>(std::min(at_once, policy_.max_runs - data_.runs)),
                     commit);
    return out;
  }

  Answer spent() const {
    const std::string why = "the budget of runs is spent";
    std::vector<int> certain;
    for (const int gap : claim_.gaps)
      if (is_cell(gap) && real_of({gap}, hypotheses_) >= policy_.certainty && !confirmation({gap}))
        certain.push_back(gap);
    if (!certain.empty()) return named(certain, why);
    if (idle_ > .5) return nobody(why);
    return {Outcome::inconclusive, {}, after_runs(why), {}};
  }

  Answer nobody(const std::string& why) const {
    char said[100];
    std::snprintf(said, sizeof said, ": P(nothing broke it) %.4f", idle_);
    return {Outcome::not_reproduced, {}, after_runs(why + said), {}};
  }

  std::string after_runs(const std::string& text) const {
    return text + ", after " + std::to_string(data_.runs) + " runs";
  }

  Answer named(const std::vector<int>& gaps, const std::string& why) const {
    Answer out;
    out.outcome = Outcome::culprit;
    for (const int gap : gaps) {
      const auto g = static_cast<std::size_t>(gap);
      NamedStep step;
      step.first = data_.commits[g] + 1;
      step.last = data_.commits[g + 1];
      step.probability = std::min(real_of({gap}, hypotheses_), 1.0);
      out.culprits.push_back(step);
    }
    char said[200];
    std::snprintf(said, sizeof said,
                  "P(each named commit broke it) %.4f, P(a further step) %.4f, each confirmed in a "
                  "fresh session",
                  real_of(gaps, hypotheses_), claim_.further);
    out.rule = after_runs(said) + (why.empty() ? "" : "; " + why);
    return out;
  }

  bool is_cell(int gap) const {
    const auto g = static_cast<std::size_t>(gap);
    for (int c = data_.commits[g] + 1; c < data_.commits[g + 1]; ++c)
      if (std::find(log_.untestable.begin(), log_.untestable.end(), c) == log_.untestable.end())
        return false;
    return true;
  }
  bool is_cell() const {
    return !claim_.gaps.empty() && std::all_of(claim_.gaps.begin(), claim_.gaps.end(),
                                               [&](int gap) { return is_cell(gap); });
  }

  // Runs of a commit in the sessions after `session`.
  FailureCounts fresh_runs(int commit, int session) const {
    FailureCounts out;
    for (const SearchRun& run : log_.runs)
      if (run.commit == commit && run.session > session)
        (run.value > 0 ? out.failed : out.passed) += 1;
    return out;
  }

  int first_session(int commit) const {
    const auto first = std::find_if(log_.runs.begin(), log_.runs.end(),
                                    [&](const SearchRun& run) { return run.commit == commit; });
    return first == log_.runs.end() ? 0 : first->session;
  }

  // Interleaved runs of both sides of each step, in a session after both were first measured. A
  // network that was away for a while makes tests fail whatever the commit. nullopt: all are
  // confirmed.
  std::optional<Measure> confirmation(const std::vector<int>& gaps) const {
    Measure out;
    out.confirms = true;
    const int session = log_.runs.back().session;
    for (const int gap : gaps) {
      const auto g = static_cast<std::size_t>(gap);
      const int good = data_.commits[g], bad = data_.commits[g + 1];
      const int after = std::max(first_session(good), first_session(bad));
      const auto before = fresh_runs(good, after), behind = fresh_runs(bad, after);
      const double have = std::min(before.failed + before.passed, behind.failed + behind.passed);
      const double odds = log_odds_of_rise(before, behind, policy_.threshold);
      if (have >= fewest_fresh && odds >= odds_to_confirm) continue;
      const int runs =
          have < fewest_fresh ? fewest_fresh : std::max(1, clamped_integer<int>(have) / 4);
      out.new_session |= after >= session;
      for (int i = 0; i < runs; ++i) {
        out.order.push_back(i % 2 == 0 ? good : bad);
        out.order.push_back(i % 2 == 0 ? bad : good);
      }
    }
    if (out.order.empty()) return std::nullopt;
    const auto left = static_cast<std::size_t>(std::max(policy_.max_runs - data_.runs, 0));
    if (out.order.size() > left) out.order.resize(left);
    return out;
  }

  Belief belief() const {
    Belief out;
    out.nothing = idle_;
    for (int gap = 0; gap < data_.gaps(); ++gap) {
      const double chance = real_of({gap}, hypotheses_);
      const auto g = static_cast<std::size_t>(gap);
      if (chance > .001)
        out.cells.push_back({data_.commits[g] + 1, data_.commits[g + 1], std::min(chance, 1.0)});
    }
    std::stable_sort(out.cells.begin(), out.cells.end(),
                     [](const auto& a, const auto& b) { return a.probability > b.probability; });
    return out;
  }

  const SearchLog& log_;
  const SearchPolicy& policy_;
  FailureData data_;
  std::vector<FailureHypothesis> hypotheses_;
  FailureClaim claim_;
  double idle_ = 0;  // P(nothing made it fail more often)
};

}  // namespace

NextStep next_failure_step(const SearchLog& log, const SearchPolicy& policy) {
  return FailureSearch(log, policy)();
}

}  // namespace nightjar::bisect::search
