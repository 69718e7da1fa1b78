// The runner's main loop: register, claim one job at a time, measure, answer. It survives a service
// that goes away, and a stop in the middle of a job.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <stop_token>
#include <string>

#include "runner/agent/build_outbox.hpp"
#include "runner/agent/coordinator.hpp"
#include "runner/agent/lease_keeper.hpp"
#include "runner/agent/spool.hpp"
#include "runner/run/executor.hpp"
#include "storage/model/time.hpp"

namespace nightjar::runner {

// Where a builder works, if this runner is one.
struct BuilderConfig {
  std::filesystem::path work;    // its own folder, see runner/make/make_wheel.hpp
  std::filesystem::path python;  // absolute
};

struct AgentConfig {
  std::string service;  // "http://host:port", without a slash at the end
  std::string token;
  std::string name;
  std::map<std::string, std::string> labels;
  std::filesystem::path cache;
  // Versions of what the Python that runs workloads has, by name: facts of this machine ("package
  // timm"), so that levels that were measured with other packages are told apart.
  std::map<std::string, std::string> packages = {};
  std::string doctor_note = {};  // what harms here and was accepted; a setting of each session
  std::chrono::seconds claim_wait{4};  // a graceful stop takes at most this long
  std::chrono::milliseconds backoff_first{500};
  std::chrono::milliseconds backoff_most{30000};
  std::optional<BuilderConfig> builder = {};  // takes build jobs, too
  // Where something else starts agents: claims nothing from `until` on, and ends after `idle`
  // without a job. A job that it has is finished first.
  std::optional<Time> until = {};
  std::optional<std::chrono::seconds> idle = {};
};

class Agent {
 public:
  Agent(AgentConfig config, Executor& executor, const Clock& clock);
  // Returns after a graceful stop, which gives a running job back, or when its time is over. Throws
  // std::runtime_error if the service refuses this runner (wrong token, wrong address).
  void run(std::stop_token stop);

 private:
  void enroll(std::stop_token stop);
  void leave();
  bool is_over() const;  // its time is, not a job's
  std::chrono::seconds claim_wait() const;
  bool send_spooled();  // false: the service is away
  void keep_for_later(const Spool::Entry& entry);
  void work_on(const Claim& claim, std::stop_token stop);
  void measure(const Claim& claim, const JobSpec& spec, std::stop_token stop);
  void build(const Claim& claim, const SourceSpec& spec, std::stop_token stop);
  MadeWheel make(const Claim& claim, const SourceSpec& spec, std::stop_token stop);
  void give_back(const Claim& claim, const LeaseKeeper& lease);
  void put_off(const Claim& claim, const char* cause, std::stop_token stop);
  void back_off(const char* attempted, std::stop_token stop);
  void pause_after(int failures, std::stop_token stop);

  const AgentConfig config_;
  Executor& executor_;
  const Clock& clock_;
  Coordinator coordinator_;
  Spool spool_;
  BuildOutbox outbox_;
  const std::string instance_;  // tells this host from another one of the same name
  RunnerId runner_;
  int failures_ = 0;  // of the service, in a row
  int put_off_ = 0;   // jobs in a row that this machine could not measure; a claim changes it not
  // Results that a proxy refused for their size, and when they are sent again.
  std::map<std::filesystem::path, Time> too_large_until_;
  std::minstd_rand jitter_{std::random_device{}()};
};

}  // namespace nightjar::runner
