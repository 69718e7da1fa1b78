// What a server and its connections share. Internal to web; all of it belongs to the I/O thread but
// the counters and the pool that reads files.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "web/server/host.hpp"
#include "web/server/ledger.hpp"
#include "web/server/places.hpp"
#include "web/server/router.hpp"
#include "web/server/server.hpp"

namespace nightjar::web {

class Connection;

// A program that is started meanwhile does not inherit it.
void keep_from_children(int descriptor);

struct ServerState {
  ServerState(boost::asio::io_context& io, ServerConfig with)
      : executor(io.get_executor()),
        config(std::move(with)),
        host_names(config.host_names),
        bytes(config.limits.bytes),
        streams(config.limits.streams),
        arrivals({config.limits.arrivals, config.limits.arrivals}),
        acceptor(io),
        sweep(io),
        retry(io) {
    for (const std::string& proxy : config.trusted_proxies)
      trusted_proxies.insert(boost::asio::ip::make_address(proxy));
  }

  boost::asio::io_context::executor_type executor;
  ServerConfig config;
  HostNames host_names;
  Ledger bytes, streams;
  Places arrivals;  // of connections whose requests have not said yet who they are
  Router router;
  boost::asio::ip::tcp::acceptor acceptor;
  boost::asio::steady_timer sweep;  // ends what took too long
  boost::asio::steady_timer retry;  // of accept, when file descriptors have run out
  boost::asio::thread_pool files{1};
  std::set<Connection*> connections;
  std::set<boost::asio::ip::address> trusted_proxies;
  std::atomic<std::uint64_t> requests{0}, errors_4xx{0}, errors_5xx{0}, open{0};
  std::vector<std::function<void()>> on_stop;
  bool stopping = false;
  std::chrono::steady_clock::time_point stopping_since{};

  Places& places_of(Account account) {
    return places_.try_emplace(account, config.limits.connections.of(account)).first->second;
  }
  // The Date header, made once a second.
  const std::string& date();

 private:
  std::map<Account, Places> places_;
  std::int64_t date_second_ = 0;
  std::string date_;
};

}  // namespace nightjar::web
