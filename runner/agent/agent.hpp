// The runner's main loop: register, claim one job at a time, measure, answer. It survives a service
// that goes away, and a stop in the middle of a job.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <stop_token>
#include <string>

#include "runner/agent/coordinator.hpp"
#include "runner/agent/spool.hpp"
#include "runner/run/executor.hpp"
#include "storage/model/time.hpp"

namespace nightjar::runner {

struct AgentConfig {
  std::string service;  // "http://host:port", without a slash at the end
  std::string token;
  std::string name;
  std::map<std::string, std::string> labels;
  std::filesystem::path cache;
  std::chrono::seconds claim_wait{4};  // a graceful stop takes at most so long
  std::chrono::milliseconds backoff_first{500};
  std::chrono::milliseconds backoff_most{30000};
};

class Agent {
 public:
  Agent(AgentConfig config, Executor& executor, const Clock& clock);
  // Returns after a graceful stop, which gives a running job back. Throws std::runtime_error if the
  // service refuses this runner (wrong token, wrong address).
  void run(std::stop_token stop);

 private:
  void enroll(std::stop_token stop);
  bool send_spooled();  // false: the service is away
  void work_on(const Claim& claim, std::stop_token stop);
  void measure(const Claim& claim, const JobSpec& spec, std::stop_token stop);
  void back_off(const char* attempted, std::stop_token stop);

  const AgentConfig config_;
  Executor& executor_;
  const Clock& clock_;
  Coordinator coordinator_;
  Spool spool_;
  RunnerId runner_;
  int failures_ = 0;  // in a row
  std::minstd_rand jitter_{std::random_device{}()};
};

}  // namespace nightjar::runner
