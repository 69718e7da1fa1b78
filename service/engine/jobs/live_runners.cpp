#include "service/engine/jobs/live_runners.hpp"

#include "storage/runners.hpp"

namespace nightjar::service {

bool is_live(const Runner& runner, Time now, const Config& config) {
  return !runner.has_left && now - runner.seen_at <= config.queue.runner_silent;
}

std::vector<Runner> live_runners(const EngineView& view) {
  std::vector<Runner> live = storage::all_runners(view.db);
  const Time now = view.clock.now();
  std::erase_if(live, [&](const Runner& runner) { return !is_live(runner, now, view.config); });
  return live;
}

}  // namespace nightjar::service
