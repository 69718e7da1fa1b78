// After each night the search is tried on what its series recorded, with a step planted: how often
// it names the right commit here. Costs no measuring.
#pragma once

#include <optional>
#include <vector>

#include "bisect/search.hpp"
#include "service/engine/context.hpp"
#include "storage/replays.hpp"

namespace nightjar::service {

struct ReplayFacts {
  Time now{};
  std::optional<NightId> night;                   // the newest, once it is done
  std::optional<std::vector<SeriesId>> to_queue;  // its series, if none were queued yet
  std::optional<SeriesId> next;
  std::vector<std::vector<double>> builds;  // values of the runs of `next`, by build
  bisect::SearchPolicy policy;
};
ReplayFacts load_replay(const EngineView& view);
// nullopt: there is nothing to replay, or too few builds. Takes tens of milliseconds. Pure.
std::optional<ReplayedSearch> replay(const ReplayFacts& facts, const Config& config);
// At most one search a call; a night's series take turns.
void replay_one(EngineContext& context);

}  // namespace nightjar::service
