#include "service/engine/jobs/live_runners.hpp"

#include "storage/runners.hpp"

namespace nightjar::service {

std::vector<Runner> live_runners(const EngineView& view) {
  std::vector<Runner> live = storage::all_runners(view.db);
  const Time oldest = view.clock.now() - view.config.queue.runner_silent;
  std::erase_if(live, [&](const Runner& runner) { return runner.seen_at < oldest; });
  return live;
}

}  // namespace nightjar::service
