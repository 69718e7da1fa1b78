// SIGTERM and SIGINT as a stop token: the first asks for a graceful stop, the second ends at once.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace nightjar::runner {

// Construct it before any other thread starts: threads inherit the blocked signals.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread thread_;
};

}  // namespace nightjar::runner
