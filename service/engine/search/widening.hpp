// A person has a search taken up again that ended without a culprit: with an older good end, with
// more runs and minutes, or for smaller changes. Its runs so far stay in its log, and what it had
// found stays on record. Used by the route that admins ask by.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "service/engine/context.hpp"
#include "service/engine/search/bisections.hpp"
#include "storage/model/build.hpp"
#include "storage/model/regression.hpp"
#include "storage/widening.hpp"

namespace nightjar::service {

// At most one of `nightlies`, `build` and `commit`. None of them: the good end stays.
struct WideningAsked {
  std::string actor, reason;
  std::optional<int> nightlies = {};  // the good end is the N-th nightly before the present one
  std::optional<BuildId> build = {};
  std::optional<CommitSha> commit = {};  // a wheel of it
  // Beside what was spent; nullopt: as many as the configuration gives a search.
  std::optional<int> more_runs = {}, more_minutes = {};
  std::optional<double> threshold = {};  // below the present one
};

// A wheel that is to be the good end, and how it would be measured.
struct WiderEnd {
  Build wheel;
  Build measured;  // with the packages of the present good end; without an id it is not stored yet
  // Main's commits from the wheel's own up to the one before the present good end's. nullopt: the
  // wheel's commit does not precede the good end's.
  std::optional<std::vector<CommitSha>> commits;
  std::optional<std::string> unfit;  // why it cannot be measured there
};

struct WideningFacts {
  Regression regression;
  std::optional<Bisection> search;  // nullopt: there is none; the members below are not read then
  std::string good;                 // version of the present good end
  std::string variant;
  int older = 0;                // nightlies before it that are known
  std::optional<WiderEnd> end;  // that was asked for; nullopt also if it is not known
  SearchLimits limits;          // as they are now
  std::vector<Untestable> untestable;
  // The search with what is allowed from now on, and the same good end. Not read for another one.
  std::optional<SearchFacts> trial;
};
WideningFacts load_widening(const EngineView& view, const Regression& regression,
                            const WideningAsked& asked);

// `field`: of the request, if that is wrong; empty: it is not possible in the regression's state.
struct CannotWiden {
  std::string reason, field = {};
};
struct Widen {
  Regression regression;
  Bisection search;
  std::optional<Build> crossed;  // the good end, if it must be stored first
  storage::Widening widening;
  std::vector<Untestable> untestable;  // by the new positions
  std::string reason;
};
// Refuses what would end with the same answer at once. Pure.
std::variant<CannotWiden, Widen> decide(const WideningFacts& facts, const WideningAsked& asked,
                                        const Config& config, Time now);
// In the caller's transaction.
void apply(storage::Transaction& transaction, const Widen& step);

}  // namespace nightjar::service
