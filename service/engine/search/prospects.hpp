// What each commit of a search waits for before it can be measured: nothing, a builder, an answer
// of CI, or a build that nobody has. Used by the search's steps.
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/source_build.hpp"

namespace nightjar::service {

// A wheel that serves it is here.
struct HasWheel {};
// A builder can be asked for its wheel.
struct CanBeBuilt {
  Sha256 native_state;
  bool wheel_is_lost = false;  // one was built, and its file is gone
};
struct IsBeingBuilt {
  Time since{};        // it was asked for, or may be tried again
  bool begun = false;  // a builder has it
};
// Builders tried, and the commit is why there is no wheel.
struct CannotBeBuilt {
  UntestableCause cause = UntestableCause::does_not_compile;
  std::string reason;
};
// There is no wheel of the commit in any place now.
struct HasNoPlace {
  std::string builders;  // why no builder makes one; empty: nothing is built from source here
};
using Prospect = std::variant<HasWheel, CanBeBuilt, IsBeingBuilt, CannotBeBuilt, HasNoPlace>;

// Builders that take jobs now: live runners with the label `build`.
int live_builders(const EngineView& view);

// By position; the ends have wheels. A build that the infrastructure failed three times counts as
// no place: it stays queued, and when it succeeds the search takes its commits up again.
std::vector<Prospect> load_prospects(const EngineView& view, const Bisection& search);
Prospect load_prospect(const EngineView& view, const Bisection& search, int index);
// What builders can do for a commit, whatever wheels there are already.
Prospect prospect_of_builders(const EngineView& view, const Bisection& search, int index,
                              bool any_builder);
// Whether CI may still give a wheel of one of the search's groups, which could be a bridge.
bool awaits_bridges_of_ci(const EngineView& view, const Bisection& search);

// Positions without a place of which CI may still have a wheel: nobody has answered yet. Empty if
// CI is not asked, or once the search has waited for an hour.
std::set<int> awaited_of_ci(const EngineView& view, const Bisection& search,
                            const std::vector<Prospect>& prospects);

// What a builder is asked for.
SourceSpec source_of(const Config& config, const CommitSha& commit);

}  // namespace nightjar::service
