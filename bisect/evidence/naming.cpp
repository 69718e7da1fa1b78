#include "bisect/evidence/naming.hpp"

#include <algorithm>

#include "bisect/evidence/contributors.hpp"

namespace nightjar::evidence {
namespace {

bool names_somebody(const bisect::Answer& answer) {
  return answer.outcome == bisect::SearchOutcome::culprit ||
         answer.outcome == bisect::SearchOutcome::several_small;
}

bool was_never_tried(int commit, const Naming& naming) {
  const auto cause = naming.causes.find(commit);
  return cause != naming.causes.end() && !was_tried(cause->second);
}

const Libraries* libraries_of(int commit, const Naming& naming) {
  const auto found = naming.libraries.find(commit);
  return found == naming.libraries.end() ? nullptr : &found->second;
}

// Both sides of the step ran with libraries of one native state: their headers differ as the files
// do, and nothing else.
bool have_one_origin(const Libraries* below, const Libraries* above) {
  return below && above && below->native_state == above->native_state;
}

NamedEnd end_of(bisect::NamedStep step, const Naming& naming) {
  bool is_range = !step.isolated || step.last - step.first >= naming.max_named;
  for (int commit = step.first; commit < step.last; ++commit)
    is_range |= was_never_tried(commit, naming);
  const Libraries* below = libraries_of(step.first - 1, naming);
  const Libraries* above = libraries_of(step.last, naming);
  if (have_one_origin(below, above)) return {step, is_range};
  for (const Libraries* side : {below, above}) {
    if (!side || side->last < side->first) continue;
    const auto [first, last] = std::pair{step.first, step.last};
    step.first = std::min(step.first, side->first);
    step.last = std::max(step.last, side->last);
    is_range |= step.first != first || step.last != last;
  }
  return {step, is_range};
}

// The small steps and all between them.
NamedEnd hull_of(const std::vector<NamedEnd>& ends) {
  std::vector<Culprit> parts;
  bisect::NamedStep step = ends.front().step;
  for (const NamedEnd& end : ends) {
    parts.push_back({{}, end.step.probability, end.step.ratio, end.step.low, end.step.high});
    step.first = std::min(step.first, end.step.first);
    step.last = std::max(step.last, end.step.last);
    step.isolated &= end.step.isolated;
  }
  const Culprit all = together(parts);
  return {{step.first, step.last, all.probability, all.ratio, all.low, all.high, step.isolated},
          true};
}

}  // namespace

std::vector<NamedEnd> ends_of(const bisect::Answer& answer, const Naming& naming) {
  std::vector<NamedEnd> ends;
  for (const bisect::NamedStep& step : answer.culprits) ends.push_back(end_of(step, naming));
  const bool any_range =
      std::any_of(ends.begin(), ends.end(), [](const NamedEnd& end) { return end.is_range; });
  if (answer.outcome == bisect::SearchOutcome::several_small && any_range) return {hull_of(ends)};
  return ends;
}

std::string_view outcome_word(const bisect::Answer& answer, const std::vector<NamedEnd>& ends) {
  const bool all_ranges =
      std::all_of(ends.begin(), ends.end(), [](const NamedEnd& end) { return end.is_range; });
  if (names_somebody(answer) && !ends.empty() && all_ranges) return "range";
  return name_of(answer.outcome);
}

}  // namespace nightjar::evidence
