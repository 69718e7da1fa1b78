// What must hold: safety at any time, and liveness once faults are over. Reads rows and knows the
// truth; throws what it finds.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "tests/simulation/agent.hpp"
#include "tests/simulation/simulation.hpp"
#include "tests/simulation/tracker.hpp"

namespace nightjar::simulation {

class Watch {
 public:
  Watch(const Plan& plan, const Truth& truth, const Tracker& tracker)
      : plan_(plan), truth_(truth), tracker_(tracker) {}

  // A result was taken: it must be that of the claim that holds the job, once.
  void stored(const storage::Database& db, int database, const Held& held);
  void claimed(const storage::Database& db, const Held& held, Time now, std::chrono::seconds lease);
  // A runner is given a build that is made of this wheel.
  void measures(const Build& wheel) const;
  // What a runner said of a job was answered; status 0: the service died meanwhile.
  void answered(const std::string& path, const Answer& answer, int database, Time now);
  // A result was stored in which a runner lied about the first run: that one alone failed.
  void failed_run(const storage::Database& db, const Message& message) const;
  // A runner lied, and this was the answer. Only a failing disk excuses a missing answer. `before`:
  // sessions_in() the database then.
  static void lied(const storage::Database& db, const std::string& lie, const Answer& answer,
                   std::int64_t before, bool disk_fails);
  static std::int64_t sessions_in(const storage::Database& db);
  // A job could not be measured where it was claimed: another runner must get it.
  void put_off(const storage::Database& db, const Held& held,
               const std::vector<std::unique_ptr<Agent>>& agents) const;
  // A runner was served: nobody else may work under its name.
  void heard(const Agent& agent, Time now, std::chrono::seconds silent);
  // A copy of the database, made then, took the place of the newer one.
  void restored(Time copied);
  // The clock was set while the service was away. It cannot know by how much, so that leases and
  // names may go to others.
  void forget_times();
  // The service has restarted, maybe after a power cut: what it acknowledged must be there.
  void began(const storage::Database& db, int database, bool lost_power);
  // No lease ends later than if it had been given or renewed now.
  void check_leases(const storage::Database& db, Time now, std::chrono::seconds lease) const;

  // What a night would have to plan now.
  void before_tick(const service::EngineContext& engine);
  void check_safety(const storage::Database& db) const;
  void check_liveness(const storage::Database& db) const;
  // How many planted improvements a search named the commit of.
  int named_gains(const storage::Database& db) const;
  // The latest period that was over at `before` has its digest.
  void check_period(const storage::Database& db, const service::Config& config, Time before) const;

 private:
  struct Heard {
    std::string instance;
    Time at{};
  };
  struct Lease {
    RunnerId runner;
    int attempt = 0;
    Time at{};           // when it was given or renewed
    bool holds = false;  // as far as anybody was told
  };
  void check_blame(const storage::Database& db) const;
  void check_fixes(const storage::Database& db) const;
  bool holds_one(const std::vector<Step>& steps, const std::vector<CommitSha>& commits) const;
  bool neighbours_testable(const std::vector<CommitSha>& commits) const;
  bool has_wheel_change(const storage::Database& db, const Regression& regression) const;
  template <class IsBefore>
  void check_levels(const storage::Database& db, const Effect& effect, const std::string& name,
                    IsBefore is_before) const;
  void check_levels(const storage::Database& db) const;
  void check_issues() const;
  void check_digests() const;
  void check_plans(const storage::Database& db) const;
  void check_told(const storage::Database& db, const Step& step) const;
  void check_told(const storage::Database& db, const WheelChange& change) const;

  bool has_claim(int database, const Held& held) const;

  const Plan& plan_;
  const Truth& truth_;
  const Tracker& tracker_;
  std::vector<Time> copied_;  // when the copy was made that became database i + 1
  std::set<std::pair<int, JobId>> stored_;
  std::map<std::pair<int, JobId>, std::set<RunnerId>> holders_;
  std::map<std::pair<int, JobId>, Lease> leases_;
  std::map<RunnerId, Heard> last_heard_;
  // What live runners of each class can run, by the time of the tick that could plan it.
  std::map<Time, std::map<MachineId, std::set<std::string>>> runnable_;
};

}  // namespace nightjar::simulation
