// What the search makes of a recorded log, every commit of which was built.
#pragma once

#include <algorithm>
#include <vector>

#include "bisect/search.hpp"

namespace nightjar::test {

inline bisect::NextStep next_of_recorded(int commits, const std::vector<bisect::SearchRun>& runs) {
  bisect::SearchLog log;
  log.commits = commits;
  log.runs = runs;
  for (const bisect::SearchRun& run : runs) {
    const bool known = std::find(log.built.begin(), log.built.end(), run.commit) != log.built.end();
    if (run.commit > 0 && run.commit < commits && !known) log.built.push_back(run.commit);
  }
  return bisect::next_step(log, {});
}

inline bool names(const bisect::NextStep& next, int commit) {
  const auto* answer = std::get_if<bisect::Answer>(&next.step);
  return answer && std::any_of(answer->culprits.begin(), answer->culprits.end(),
                               [&](const bisect::NamedStep& step) {
                                 return step.first <= commit && commit <= step.last;
                               });
}

}  // namespace nightjar::test
