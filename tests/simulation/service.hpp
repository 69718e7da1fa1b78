// The service in this process and on this thread: the real database, engine, routes, HTTP server
// and outbox sender. Only discovery, the clock and the tracker are simulated.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "service/api/api.hpp"
#include "service/builds/artifacts.hpp"
#include "service/clock_steps.hpp"
#include "service/engine/context.hpp"
#include "service/report/outbox.hpp"
#include "storage/database.hpp"
#include "storage/model/json.hpp"
#include "tests/simulation/truth.hpp"
#include "tests/simulation/wall_clock.hpp"
#include "tests/support/faulty_disk.hpp"

namespace nightjar::simulation {

// A claim that an agent was given: what its result belongs to.
struct Held {
  JobId job;
  int attempt = 0;
  std::string nonce;
  int database = 0;                 // each restored copy is another one
  Time at{};                        // by a clock that nobody can set
  std::vector<std::string> builds;  // versions, by environment
  Positions positions;
  JobSpec spec;
};

// Status 0: there was no answer.
struct Answer {
  unsigned status = 0;
  nlohmann::json json;
  std::shared_ptr<Held> held = {};  // of a claim that was given a job
};

using storage::test::FaultyDisk;

class Service {
 public:
  // `disk`: the one that may fail; nullptr: none does. Throws storage::Error if the database cannot
  // be opened.
  Service(const service::Config& config, const WallClock& clock, const git::CommitGraph& graph,
          service::IssueTracker& tracker, service::Artifacts& artifacts, FaultyDisk* disk);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // As discovery does: wheels that are not stored yet are stored as proved. False if the disk
  // was in the way.
  bool discover(const std::vector<Build>& wheels);
  // What the daemon does at a tick, first and then. True if rows changed.
  void follow_clock();
  bool tick();
  // A POST over a connection, with this token.
  Answer post(const std::string& path, const std::string& body, const std::string& token);

  // From the `survives`-th commit on none reaches the disk, as if the process had been killed.
  void die_after(int survives);
  bool is_dead() const { return dead_ || (disk_ && disk_->is_cut()); }
  // The engine should tick: a request changed something.
  bool is_woken() const { return woken_; }
  // follow_clock() could move all that is stored along with the clock.
  bool follows_clock() const { return follows_clock_; }

  storage::Database& db() { return db_; }
  const service::EngineContext& engine() const { return engine_; }

 private:
  static int on_commit(void* self);
  template <class Act>
  bool guarded(Act act);
  void send_next();
  void record();
  Answer exchange(const std::string& request);
  void connect();

  const service::Config& config_;
  const WallClock& clock_;
  FaultyDisk* const disk_;
  storage::Database db_;
  service::Artifacts& artifacts_;
  service::OutboxSender sender_;
  boost::asio::io_context io_{1};
  web::EventStream events_;
  service::EngineContext engine_;
  service::api::Context context_;
  web::Server server_;
  boost::asio::ip::tcp::socket client_{io_};
  service::ClockFollower clock_follower_;
  std::optional<std::pair<OutboxMessage, service::Sent>> unrecorded_;
  bool woken_ = true, dead_ = false, follows_clock_ = true;
  int commits_left_ = -1;  // below 0: any number
};

}  // namespace nightjar::simulation
