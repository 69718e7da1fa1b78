// A runner's agent: the loop of runner/agent under the simulated clock and network. What is real
// here is what it sends and how it takes each answer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tests/simulation/network.hpp"

namespace nightjar::simulation {

// What an agent is told of the world around it.
struct Surroundings {
  Timeline& timeline;
  Network& network;
  const Truth& truth;
  // The agent was heard: its request was answered with success.
  std::function<void(const class Agent&)> heard;
};

class Agent {
 public:
  Agent(const PlannedRunner& planned, std::string instance, std::uint64_t seed,
        Surroundings& around);

  void start();    // the process begins; what it had spooled is still there
  void crash();    // and takes its job with it
  void preempt();  // gives the job back first
  void wake();     // a long poll ends: there may be a job
  void set_sick(bool sick);
  void set_stolen(bool stolen) { stolen_ = stolen; }
  void upgrade_kernel() { ++kernel_; }
  void set_clock_ahead(std::chrono::seconds ahead) { clock_ahead_ = ahead; }

  // Could have measured for all of the time since then.
  bool is_well_since(Time time) const { return up_ && !sick_ && well_since_ < time; }
  bool can_run(const JobSpec& spec) const;
  bool may_leave() const { return planned_.may_leave; }
  const std::string& name() const { return planned_.name; }
  const std::string& instance() const { return instance_; }
  RunnerId runner() const { return runner_; }
  int machine_class() const { return planned_.machine_class; }  // the class's number in the plan
  MachineId machine() const { return machine_; }
  // What it measures now, and what it sent last and got an answer to; nullptr: nothing.
  const std::shared_ptr<Held>& held() const { return held_; }
  const std::shared_ptr<const Message>& last_result() const { return last_result_; }

 private:
  void enroll();
  void work();  // the next turn of the loop
  void send_spooled();
  void claim();
  void begin(std::shared_ptr<Held> held);
  void keep_lease();
  void finish();
  void back_off();
  void ask(const std::string& path, const nlohmann::json& body,
           std::function<void(const Answer&)> answered);
  // Does nothing if the process has ended or restarted meanwhile.
  void later(std::chrono::microseconds wait, std::function<void()> act);
  static std::string path_of(const Held& held, const char* action);

  const PlannedRunner& planned_;
  const std::string instance_;
  Surroundings& around_;
  Random random_;
  int kernel_ = 0;
  bool up_ = false, idle_ = false, sick_ = false, stolen_ = false;
  int life_ = 0;  // counts processes
  int failures_ = 0, put_off_ = 0;
  Time well_since_{};
  std::chrono::seconds clock_ahead_{};
  RunnerId runner_;
  MachineId machine_;
  std::shared_ptr<Held> held_;  // what is being measured
  // On its disk: results by job and attempt.
  std::map<std::pair<std::int64_t, int>, Message> spool_;
  std::shared_ptr<const Message> last_result_;
};

}  // namespace nightjar::simulation
