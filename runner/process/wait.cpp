#include "runner/process/wait.hpp"

#include <condition_variable>
#include <mutex>

namespace nightjar::runner {

bool wait_for(std::chrono::milliseconds duration, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace nightjar::runner
