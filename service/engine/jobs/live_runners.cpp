#include "service/engine/jobs/live_runners.hpp"

#include "storage/runners.hpp"

namespace nightjar::service {

std::vector<Runner> live_runners(EngineContext& context) {
  std::vector<Runner> live = storage::all_runners(context.db);
  const Time oldest = context.clock.now() - context.config.queue.runner_silent;
  std::erase_if(live, [&](const Runner& runner) { return runner.seen_at < oldest; });
  return live;
}

}  // namespace nightjar::service
