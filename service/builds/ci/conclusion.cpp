#include "service/builds/ci/conclusion.hpp"

#include <algorithm>

namespace nightjar::service::ci {

namespace {

constexpr std::chrono::seconds first_wait{60}, longest_wait{6 * 3600};
constexpr std::chrono::seconds while_runs_go_on{15 * 60};
constexpr std::chrono::seconds young{3600};  // GitHub starts runs within minutes of a push
constexpr int most_refusals = 3;

std::string joined(const std::vector<std::string>& reasons) {
  std::string text;
  for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

CiLookup failed(CiLookup lookup, const std::string& why, std::optional<Time> retry_at) {
  lookup.state = CiLookupState::failed;
  lookup.reason = why;
  lookup.retry_at = retry_at;
  return lookup;
}

// 1, 2, 4, ... minutes, at most six hours.
std::chrono::seconds back_off(int failures) {
  return std::min(longest_wait, first_wait * (1 << std::clamp(failures - 1, 0, 10)));
}

}  // namespace

CiLookup after_full_look(CiLookup lookup, const Sight& sight, Time now) {
  if (!sight.refused.empty()) {
    lookup.failures += 1;
    std::optional<Time> again;
    if (lookup.failures < most_refusals) again = now + back_off(lookup.failures);
    return failed(std::move(lookup), joined(sight.refused), again);
  }
  if (!sight.gone.empty()) {
    lookup.failures += 1;
    const Time again = now + back_off(lookup.failures);
    return failed(std::move(lookup), joined(sight.gone), again);
  }
  lookup.failures = 0;
  if (sight.unfinished_runs > 0)
    return failed(std::move(lookup),
                  std::to_string(sight.unfinished_runs) + " of its " + std::to_string(sight.runs) +
                      " runs are not finished yet",
                  now + while_runs_go_on);
  if (sight.runs == 0 && sight.commit_age < young)
    return failed(std::move(lookup), "its runs have not begun yet", now + while_runs_go_on);
  lookup.state = CiLookupState::absent;
  lookup.retry_at.reset();
  lookup.reason = sight.runs == 0 ? "GitHub has no run of this commit"
                  : sight.missing.empty()
                      ? "its " + std::to_string(sight.runs) +
                            " runs are finished, and none has an archive of these environments"
                      : joined(sight.missing);
  return lookup;
}

CiLookup after_no_answer(CiLookup lookup, const std::string& why,
                         std::optional<std::chrono::seconds> wait, Time now) {
  lookup.failures += 1;
  const Time again =
      now + std::max(back_off(lookup.failures), wait.value_or(std::chrono::seconds(0)));
  return failed(std::move(lookup), why, again);
}

}  // namespace nightjar::service::ci
