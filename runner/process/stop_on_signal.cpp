#include "runner/process/stop_on_signal.hpp"

#include <cstdio>
#include <pthread.h>
#include <unistd.h>

namespace nightjar::runner {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  const sigset_t set = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  thread_ = std::jthread([this](std::stop_token end) {
    const sigset_t waited = ending_signals();
    for (;;) {
      const int signal = ::sigwaitinfo(&waited, nullptr);
      if (end.stop_requested()) return;
      if (signal < 0) continue;
      if (source_.stop_requested()) ::_exit(128 + signal);  // children get SIGKILL with us
      // Standard output holds results only.
      std::fprintf(stderr, "stopping on signal %d; a second one ends at once\n", signal);
      source_.request_stop();
    }
  });
}

// The signal that wakes the thread is for that thread alone.
StopOnSignal::~StopOnSignal() {
  thread_.request_stop();
  ::pthread_kill(thread_.native_handle(), SIGINT);
}

}  // namespace nightjar::runner
