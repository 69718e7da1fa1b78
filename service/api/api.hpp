// The REST interface: queries for everybody, the protocol of the runners, the webhook, and what
// operators ask. /openapi.json describes it, and is made of the routes. Used by the daemon.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "service/api/cache.hpp"
#include "service/api/claims.hpp"
#include "service/api/readers.hpp"
#include "service/api/turns.hpp"
#include "service/builds/uploads.hpp"
#include "service/complaints.hpp"
#include "service/config.hpp"
#include "service/engine/obstacles.hpp"
#include "service/importing.hpp"
#include "storage/database.hpp"
#include "storage/model/time.hpp"
#include "web/server/server.hpp"

namespace nightjar::git {

class CommitGraph;

}  // namespace nightjar::git

namespace nightjar::service {

class Artifacts;

}  // namespace nightjar::service

namespace nightjar::service::api {

// When the engine ticked last, by a clock that nobody sets; written by its thread, read by /readyz
// and /metrics.
class Heartbeat {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  void beat(Instant now) { last_ = now; }
  // Seconds since the last beat; below 0 before the first one.
  double age_seconds(Instant now) const;

 private:
  std::atomic<Instant> last_ = Instant::min();
};

// What stops nights or reports as of the last tick; written by the engine's thread, read by the
// routes.
class Obstacles {
 public:
  void set(std::vector<Obstacle> found);
  std::vector<Obstacle> get() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Obstacle> found_;
};

// What the routes work with. It outlives the server's run and the work on the executors.
struct Context {
  // `writer` is used on `write` only, which runs one task at a time; `read` may run several; `io`
  // is the server's. `intake` reads large bodies, one at a time. `wake` tells the engine that
  // something changed; it is called from any thread. Throws std::runtime_error if the webhook's
  // secret is configured but cannot be read.
  Context(const Config& config, const Clock& clock, storage::Database& writer,
          const std::filesystem::path& database_file, const git::CommitGraph& commits,
          Artifacts& artifacts, web::EventStream& events, boost::asio::any_io_executor io,
          boost::asio::any_io_executor write, boost::asio::any_io_executor read,
          boost::asio::any_io_executor intake, std::function<void()> wake);

  const Config& config;
  const Clock& clock;
  storage::Database& writer;
  const git::CommitGraph& commits;
  Artifacts& artifacts;
  web::EventStream& events;
  boost::asio::any_io_executor io, write, read, intake;
  std::function<void()> wake;
  std::string webhook_secret;
  std::uint64_t min_free_bytes = 256u << 20;  // less disk space is not ready
  Readers readers;
  Turns reads, writes, bodies;  // of requests, on `read`, `write` and `intake`
  Cache cache;
  Heartbeat heartbeat;
  Obstacles obstacles;
  Complaints complaints;  // of requests while the database fails
  Claims claims;          // claims.notify() when jobs were queued
  Uploads uploads;        // wheels on their way from builders
  Importing importing;
};

// "ok", or how much disk space is left and needed.
std::string disk_check(const Context& context);
// "ok", or why the database cannot be worked with: what the writer met, or damage that a reader
// met.
std::string database_check(const Context& context);

// Address, limits and the tokens of the configuration.
web::ServerConfig server_config(const Config& config);
void add_routes(web::Server& server, Context& context);

}  // namespace nightjar::service::api
