#include "service/engine/verdict/screening.hpp"

#include <algorithm>
#include <cmath>

#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/engine/verdict/affected_classes.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t sample = 3;    // number of series examined when many moved together
constexpr double told_unclear = .1;  // share of a group from which the night speaks of it

// Sorts a night's observations into verdicts.
class Screening {
 public:
  Screening(const Night& night, Time now) : night_(night), now_(now) {}

  void add(const Observation& observed) {
    if (observed.suspicious || observed.same_build) return;
    if (observed.again) add_moved(observed);
    if (observed.worse()) {
      suspect(observed, FoundBy::screening, observed.levels.front().build,
              observed.screen.reference, observed.screen.level, observed.screen.change,
              evidence::of_screening(observed.screen, observed.tonight, observed.level_values,
                                     observed.policy, observed.controls));
      return;
    }
    if (observed.improved) verdicts.improvements.push_back(*observed.improved);
    if (observed.unclear()) return;
    if (!observed.better() && add_creep(observed)) return;
    if (const auto level = level_of(night_, observed)) verdicts.levels.push_back(*level);
  }

  void tell(const std::string& sentence) {
    verdicts.reason += (verdicts.reason.empty() ? "" : "; ") + sentence;
  }

  ScreeningVerdicts verdicts;

 private:
  void suspect(const Observation& observed, FoundBy found_by, BuildId good, double before,
               double after, double change, const Evidence& why) {
    Regression regression;
    regression.found_by = found_by;
    regression.night = night_.id;
    regression.machine = observed.series.machine;
    regression.good = good;
    regression.bad = *night_.build;
    const double ratio = 1 + change;
    regression.series = {{observed.series.id, before, after, ratio, ratio, ratio}};
    regression.opened_at = now_;
    verdicts.suspicions.push_back({std::move(regression), why});
  }

  // The history before tonight is that of another machine.
  void add_moved(const Observation& observed) {
    storage::Mark mark;
    mark.at = now_;
    mark.actor = "nightjar";
    mark.after_night = NightId{night_.id.value - 1};
    mark.machine = observed.series.machine;
    mark.workload = observed.series.workload_name.str();
    mark.metric = observed.series.metric;
    const long percent = std::lround(100 * (observed.moved - 1));
    mark.reason = "the machine moved it by " + std::string(percent > 0 ? "+" : "") +
                  std::to_string(percent) + " % (" + observed.facts_changed +
                  "): the last build was measured again";
    verdicts.marks.push_back(std::move(mark));
    verdicts.levels.push_back(*observed.again);
  }

  // The slow path. True if the series crept up.
  bool add_creep(const Observation& observed) {
    std::vector<double> levels{observed.screen.level};
    for (const Level& level : observed.levels) levels.push_back(level.value);
    const auto found = bisect::creep(levels, observed.policy);
    if (!found) return false;
    const Level& reference = observed.levels.at(found->reference - 1);
    if (reference.build == *night_.build) return false;
    suspect(observed, FoundBy::creep, reference.build, found->before, found->after, found->change,
            evidence::of_creep(*found, observed.tonight, levels, observed.policy));
    return true;
  }

  const Night& night_;
  Time now_;
};

// "212 of 300 series of latency on machine class 3"
std::string share_text(const Group& group, std::size_t some, std::size_t all) {
  return std::to_string(some) + " of " + std::to_string(all) + " series of " + group.second +
         " on machine class " + std::to_string(group.first.value);
}

std::string held_text(const Group& group, std::size_t moved, std::size_t all, std::size_t opened) {
  const std::string looked_into =
      opened == 0   ? "none for the worse"
      : opened == 1 ? "the clearest is looked into"
                    : "the " + std::to_string(opened) + " clearest are looked into";
  return share_text(group, moved, all) + " moved together; " + looked_into;
}

// Empty: so few series are unclear that each night has some.
std::string unclear_text(const Group& group, const std::vector<Observation>& all) {
  const auto unclear = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Observation& one) { return one.unclear(); }));
  if (static_cast<double>(unclear) < told_unclear * static_cast<double>(all.size())) return {};
  return share_text(group, unclear, all.size()) +
         " are unclear: their machine moved, or was restless";
}

// Whether this night left the series without a verdict.
bool is_held(const Observation& observed, const std::vector<Regression>& regressions) {
  return !observed.suspicious && !observed.has_level && !observed.same_build &&
         suspicion_of(observed, regressions) == nullptr;
}

bool is_confirmed(const Observation& observed, const std::vector<Regression>& regressions) {
  const Regression* own = suspicion_of(observed, regressions);
  return own != nullptr && own->state != RegressionState::dismissed;
}

}  // namespace

ScreeningVerdicts screen(const Night& night, const Observations& observed, Time now) {
  Screening screening(night, now);
  for (const auto& [group, all] : observed) {
    const MovedTogether moved = moved_together(all);
    const auto& together = moved.held;
    std::size_t opened = 0;
    for (const Observation* one : together)
      if (one->worse() && opened < sample) {
        screening.add(*one);
        ++opened;
      }
    for (const Observation& one : all)
      if (std::find(together.begin(), together.end(), &one) == together.end()) screening.add(one);
    if (opened < together.size()) screening.tell(held_text(group, moved.count, all.size(), opened));
    if (const std::string text = unclear_text(group, all); !text.empty()) screening.tell(text);
  }
  return screening.verdicts;
}

void store(storage::Transaction& transaction, const ScreeningVerdicts& verdicts) {
  for (const Suspicion& suspicion : verdicts.suspicions)
    storage::add_regression(
        transaction, suspicion.regression,
        {RegressionState::suspected, suspicion.regression.opened_at, suspicion.evidence});
  for (const storage::Improvement& improvement : verdicts.improvements)
    storage::add_improvement(transaction, improvement);
  for (const storage::Mark& mark : verdicts.marks) storage::add_mark(transaction, mark);
  for (const Level& level : verdicts.levels) storage::set_level(transaction, level);
}

Released release_held(const Night& night, const Observations& observed,
                      const std::vector<Regression>& regressions, Time now) {
  Released released;
  for (const auto& [group, all] : observed) {
    const MovedTogether moved = moved_together(all);
    const bool holds = moved.begins_again && std::any_of(moved.held.begin(), moved.held.end(),
                                                         [&](const Observation* one) {
                                                           return is_held(*one, regressions);
                                                         });
    const bool confirmed = std::any_of(all.begin(), all.end(), [&](const Observation& one) {
      return is_confirmed(one, regressions);
    });
    if (!holds || confirmed) continue;
    storage::Mark mark;
    mark.at = now;
    mark.actor = "nightjar";
    mark.after_night = NightId{night.id.value - 1};
    mark.machine = group.first;
    mark.metric = group.second;
    const bool examined = std::any_of(all.begin(), all.end(), [&](const Observation& one) {
      return suspicion_of(one, regressions) != nullptr;
    });
    mark.reason = examined
                      ? "most series moved together, and the builds do not differ side by "
                        "side: the machine did"
                      : "most series got better together, so nothing was compared side by side";
    released.marks.push_back(std::move(mark));
    for (const Observation& one : all)
      if (const auto level = level_of(night, one)) released.levels.push_back(*level);
  }
  return released;
}

void store(storage::Transaction& transaction, const Released& released) {
  for (const storage::Mark& mark : released.marks) storage::add_mark(transaction, mark);
  for (const Level& level : released.levels) storage::set_level(transaction, level);
}

}  // namespace nightjar::service
