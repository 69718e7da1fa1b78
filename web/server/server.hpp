// The HTTP server: routes, roles by token, limits. One coroutine a connection, handlers run on the
// executor that their route names, so the I/O thread never blocks.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/server/ledger.hpp"
#include "web/server/message.hpp"

namespace nightjar::web {

struct Route {
  Method method = Method::get;
  std::string pattern;  // "/api/v1/builds/{id}"
  Role role = Role::read;
  // Where the handler runs; nullopt: on the I/O thread (it must not block).
  std::optional<boost::asio::any_io_executor> executor;
  Handler handler;
  std::size_t body_limit = 1 << 20;  // bytes; more is 413
  // Refuses by the head alone, before a body is read; on the I/O thread. May be empty.
  std::function<std::optional<Response>(const Request&)> refuse = {};
  // The same where that takes more than a look: calls `verdict` once, from any thread. nullopt lets
  // the body come; any answer leaves it unread and ends the connection. May be empty.
  using Verdict = std::function<void(std::optional<Response>)>;
  std::function<void(std::shared_ptr<const Request>, Verdict verdict)> judge = {};
};

struct Limits {
  // What is in memory for clients at once: heads, bodies, answers that are not yet written, parts
  // of files, events that wait.
  Budgets bytes{.anonymous = {16u << 20, 8u << 20},
                .readers = {32u << 20, 16u << 20},
                .imports = {96u << 20, 64u << 20},
                .agents = {256u << 20, 160u << 20},
                .admins = {192u << 20, 160u << 20},
                .cache = {8u << 20, 8u << 20},
                .comparisons = {12u << 20, 12u << 20}};
  std::size_t header_bytes = 16 << 10;
  // For a head, and for the body of a sender without a token. Others may take longer over a body
  // while it comes: the time starts again with every 16 KiB.
  std::chrono::milliseconds read_timeout{30000};
  std::chrono::seconds write_timeout{60};
  std::chrono::seconds handler_timeout{120};  // long polls included; then 504
  // Connections that have not said yet who they are. The oldest one of the address with the most
  // yields to a new one, so a client that has a token can always show it.
  std::size_t arrivals = 128;
  // Connections whose last request was made by such a client. Where an account has no more, the
  // client with the most yields to one with less. Those without a token count while they are
  // answered only, each by its address, or by the address that a trusted proxy names.
  Budgets connections{.anonymous = {128, 64},
                      .readers = {128, 64},
                      .imports = {16, 8},
                      .agents = {448, 320},
                      .admins = {32, 32}};
  Budgets streams{.anonymous = {64, 16},
                  .readers = {64, 32},
                  .imports = {4, 4},
                  .agents = {32, 16},
                  .admins = {16, 16}};
};

// How a browser shows who is signed in: by a cookie, which it sends by itself, also where a page of
// a stranger makes it ask. So a change by a cookie must come from a page of this service.
struct SessionConfig {
  std::string cookie;  // its name; empty: there are no sessions
  std::string origin;  // of this service's pages, as browsers name it
  // As ServerConfig::authenticate.
  std::function<std::optional<Principal>(std::string_view session)> authenticate = {};
};

struct ServerConfig {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  Limits limits;
  // The principal of a bearer token; nullopt: 401. Runs on the I/O thread: compare hashes only.
  std::function<std::optional<Principal>(std::string_view token)> authenticate;
  SessionConfig sessions = {};
  bool open_reads = true;  // routes of role read need no token
  // Addresses of reverse proxies. Only these are believed when they name a client
  // (X-Forwarded-For). Server's constructor throws if one is no address.
  std::vector<std::string> trusted_proxies = {};
  // The names in public DNS under which it may be read without a token, besides addresses and
  // private names.
  std::vector<std::string> host_names = {};
};

// Server-sent events to every client of one path. publish() may be called from any thread; a client
// that does not keep up is dropped. Last-Event-ID resumes within the last 256 events.
class EventStream {
 public:
  EventStream();
  ~EventStream();
  void publish(std::string_view event, std::string_view data_json);
  struct Impl;
  std::shared_ptr<Impl> impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

class Server {
 public:
  // Binds at once; throws std::runtime_error that names address and port if it cannot.
  Server(boost::asio::io_context& io, ServerConfig config);
  ~Server();
  void add(Route route);
  void add_events(std::string path, Role role, EventStream& stream);
  void start();  // begins to accept
  void stop();   // stops accepting, lets running requests end for a second
  // Called on the I/O thread when the server stops: for long polls to be answered.
  void on_stop(std::function<void()> callback);
  std::uint16_t port() const;
  struct Counters {
    std::uint64_t requests = 0, errors_4xx = 0, errors_5xx = 0, connections = 0;
  };
  Counters counters() const;
  // Counts the bytes in memory, which Limits::bytes limits.
  const Ledger& ledger() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace nightjar::web
