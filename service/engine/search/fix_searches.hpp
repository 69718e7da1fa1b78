// Opens the search for the commit that made a build better: one for each build and machine class,
// for fixes that get an issue of their own. Its steps are those of any search (bisections.hpp).
#pragma once

#include <chrono>
#include <optional>
#include <variant>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/marks.hpp"
#include "storage/model/build.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// An improvement is reported while it is this recent.
inline constexpr std::chrono::days fixes_since{7};
// The report of a fix waits for its searches until this long after its first improvement.
inline constexpr std::chrono::days fix_patience{5};

// Whether a regression of the machine class waits for its confirmation or its search, which go
// first.
bool regressions_wait(const EngineView& view, MachineId machine);

// The build of the newest level before the improvement that is of another build.
std::optional<BuildId> build_before(const EngineView& view,
                                    const storage::Improvement& improvement);

// What a build made better on one machine class, for which no search was opened yet.
struct FixToSearch {
  BuildId id;  // of the build that is better
  MachineId machine;
  storage::Improvement lead;  // the clearest one
  bool is_failure = false;    // nothing but failures got better
  std::optional<Build> before, after;
  // That are new in it; nullopt: no range. Not read while it waits, for a tick asks again.
  std::optional<std::vector<CommitSha>> commits;
  bool waits = false;  // for regressions of the class, or for the search of another fix of it
};
// Returns no fixes if the configuration does not ask for their search.
std::vector<FixToSearch> load_fixes_to_search(const EngineView& view);

// `search.fix` follows when the fix is stored.
struct OpenFixSearch {
  FixSearch fix;
  Bisection search;
};
struct LeaveFix {
  FixSearch fix;  // says why it is not searched
};
// nullopt: it waits.
std::optional<std::variant<OpenFixSearch, LeaveFix>> decide(const FixToSearch& facts, Time now);
bool start_fix_searches(EngineContext& context);

// Its culprits, or its ranges where it has none. Empty: it named nobody, or has not ended.
std::vector<NamedCause> named_by(const FixSearch& fix);

// Whether a search of the fix may still begin or goes on. `improvements`: what one build made
// better, the oldest first.
bool awaits_search(const EngineView& view, const std::vector<storage::Improvement>& improvements);

}  // namespace nightjar::service
