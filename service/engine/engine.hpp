// One tick over all rows: expired leases, nights, confirmations, searches, reports. Used by the
// daemon.
#pragma once

#include <chrono>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/build.hpp"

namespace nightjar::service {

// What a tick did. `is_part`: its time was over, and the next tick goes on.
struct Ticked {
  bool changed = false, is_part = false;
};
// Takes everything as far as it goes without waiting. A step that fails does not hold up the
// others; it is among `context.complaints` until it works. `surveyed`: the builds' source was read
// since the daemon started. `time`: no further round begins after it, so that requests get their
// turn.
Ticked tick(EngineContext& context, bool surveyed,
            std::chrono::milliseconds time = std::chrono::hours(1));

// Wheels and archives that open nights, searches and the newest levels still need.
void pin_artifacts(EngineContext& context);

// True if builds were proved, and the copy of the repository has no commits any more: it was lost.
// Searches wait until it is fetched.
bool has_lost_history(const EngineView& view);

// Proved builds in use whose wheel is not among the artifacts any more.
std::vector<Build> missing_wheels(const EngineView& view);

}  // namespace nightjar::service
