#include "service/engine/jobs/live_runners.hpp"

#include "storage/runners.hpp"

namespace nightjar::service {

bool is_live(const Runner& runner, Time now, const Config& config) {
  return !runner.has_left && now - runner.seen_at <= config.queue.runner_silent;
}

std::vector<Runner> live_runners(const EngineView& view, MachineId machine) {
  return storage::live_runners(view.db, view.clock.now() - view.config.queue.runner_silent,
                               machine);
}

}  // namespace nightjar::service
