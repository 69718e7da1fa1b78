// What later nights add to a reported regression's issue: a comment when its effect changed, and
// none while it stays as it was. That it is still there is no news.
#pragma once

#include <optional>
#include <span>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/model/outbox.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// One affected series in one night, as a multiple of the cost before the regression; above 1 is
// worse.
struct LaterEffect {
  double told = 1;  // what the issue or its newest comment says
  double now = 1;
  double threshold = .07;
};
// Whether this night's level counts as back: nearer to the level before than to the threshold.
bool is_back(double cost, double threshold);
// What a reader does not know yet: all series are back for the first time, or one moved by its
// threshold since it was told last. A recovery is partial if one is still worse by its threshold.
// nullopt: nothing.
std::optional<NightChange> news(std::span<const LaterEffect> effects);

// The comment that the newest whole night adds; nullopt: none, or it is queued already. Reads only.
std::optional<OutboxMessage> later_news(const EngineView& view, const Regression& regression);
// Queues at most one comment a night and regression; a night that ticks again queues nothing.
bool follow_reported(EngineContext& context);

}  // namespace nightjar::service
