// Keeps a claimed job's lease alive from a thread of its own while another one measures.
#pragma once

#include <atomic>
#include <stop_token>
#include <string>
#include <thread>

#include "runner/agent/coordinator.hpp"

namespace nightjar::runner {

class LeaseKeeper {
 public:
  LeaseKeeper(std::string service, std::string token, Claim claim);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // Stops when the lease is lost or stop_job() was called. A service that is away does not stop the
  // job: its result is spooled, and accepted if nobody else was given the job meanwhile.
  std::stop_token job_token() const { return job_.get_token(); }
  void stop_job() { job_.request_stop(); }
  bool lost() const { return lost_; }

 private:
  void keep(std::stop_token end);

  const Claim claim_;
  Coordinator coordinator_;
  std::stop_source job_;
  std::atomic<bool> lost_ = false;
  std::jthread thread_;  // last: it uses all the others
};

}  // namespace nightjar::runner
