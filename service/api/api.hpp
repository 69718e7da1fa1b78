// The REST interface, described by openapi.json: queries for everybody, the protocol of the runners, the
// webhook, and what operators ask. Used by the daemon.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "service/api/cache.hpp"
#include "service/api/claims.hpp"
#include "service/api/readers.hpp"
#include "service/config.hpp"
#include "storage/database.hpp"
#include "storage/model/time.hpp"
#include "web/server.hpp"

namespace nightjar::service {

class Artifacts;

}  // namespace nightjar::service

namespace nightjar::service::api {

// When the engine ticked last; written by its thread, read by /readyz and /metrics.
class Heartbeat {
 public:
  void beat(Time now) { last_us_ = to_us(now); }
  // Seconds since the last beat; below 0 before the first one.
  double age_seconds(Time now) const;

 private:
  std::atomic<std::int64_t> last_us_{0};
};

// What the routes work with. It outlives the server's run and the work on the executors.
struct Context {
  // `writer` is used on `write` only, which runs one task at a time; `read` may run several; `io` is the
  // server's. `wake` tells the engine that something changed; it is called from any thread. Throws
  // std::runtime_error if the webhook's secret is configured but cannot be read.
  Context(const Config& config, const Clock& clock, storage::Database& writer,
          const std::filesystem::path& database_file, Artifacts& artifacts,
          web::EventStream& events, boost::asio::any_io_executor io,
          boost::asio::any_io_executor write, boost::asio::any_io_executor read,
          std::function<void()> wake);

  const Config& config;
  const Clock& clock;
  storage::Database& writer;
  Artifacts& artifacts;
  web::EventStream& events;
  boost::asio::any_io_executor io, write, read;
  std::function<void()> wake;
  std::string webhook_secret;
  std::uint64_t min_free_bytes = 256u << 20;  // less disk space is not ready
  Readers readers;
  Cache cache;
  Heartbeat heartbeat;
  Claims claims;  // claims.notify() when jobs were queued
};

// Address, limits and the tokens of the configuration.
web::ServerConfig server_config(const Config& config);
void add_routes(web::Server& server, Context& context);

}  // namespace nightjar::service::api
