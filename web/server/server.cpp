#include "web/server/server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <ctime>
#include <fcntl.h>
#include <stdexcept>

#include "web/server/connection.hpp"
#include "web/server/events.hpp"
#include "web/server/server_state.hpp"

namespace nightjar::web {
namespace asio = boost::asio;
using std::chrono::steady_clock;
namespace {

constexpr std::chrono::milliseconds sweep_interval{100};
constexpr std::chrono::seconds stop_grace{1};

void sweep(std::shared_ptr<ServerState> state) {
  const auto now = steady_clock::now();
  const bool force = state->stopping && now - state->stopping_since > stop_grace;
  // Closing does not destroy: that happens in the connection's own completion, later.
  for (auto* connection : state->connections) {
    if (force)
      connection->abort();
    else
      connection->expire(now);
  }
  if (state->stopping && state->connections.empty()) return;
  auto& timer = state->sweep;
  timer.expires_after(sweep_interval);
  timer.async_wait([state = std::move(state)](auto) mutable { sweep(std::move(state)); });
}

// One acceptance: into `socket`, with its error.
asio::awaitable<void> accept_one(ServerState& state, asio::ip::tcp::socket& socket,
                                 boost::system::error_code& error) {
  return state.acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<void> pause(ServerState& state, boost::system::error_code& error) {
  state.retry.expires_after(sweep_interval);
  return state.retry.async_wait(asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<void> accept_all(std::shared_ptr<ServerState> state) {
  while (!state->stopping) {
    asio::ip::tcp::socket socket(state->executor);
    boost::system::error_code error;
    co_await accept_one(*state, socket, error);
    if (state->stopping) break;
    if (!error) {
      Connection::start(std::make_shared<Connection>(std::move(socket), state));
    } else if (auto* yields = state->arrivals.next_to_yield()) {
      yields->give_way();  // file descriptors have run out
    } else {
      co_await pause(*state, error);
    }
  }
}

}  // namespace

const std::string& ServerState::date() {
  const auto now = static_cast<std::int64_t>(std::time(nullptr));
  if (now != date_second_) {
    date_second_ = now;
    date_ = http_date(now);
  }
  return date_;
}

void keep_from_children(int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

struct Server::Impl {
  std::shared_ptr<ServerState> state;
  std::uint16_t port = 0;
};

Server::Server(asio::io_context& io, ServerConfig config) : impl_(std::make_shared<Impl>()) {
  impl_->state = std::make_shared<ServerState>(io, std::move(config));
  const auto& with = impl_->state->config;
  auto& acceptor = impl_->state->acceptor;
  try {
    const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(with.address), with.port);
    acceptor.open(endpoint.protocol());
    keep_from_children(acceptor.native_handle());
    acceptor.set_option(asio::socket_base::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
    impl_->port = acceptor.local_endpoint().port();
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error(
        "cannot listen on " + with.address + " port " + std::to_string(with.port) + ": " +
        error.code().message() +
        "; give another address or port, or end the program that has this one");
  }
}

Server::~Server() {
  stop();
}

void Server::add(Route route) {
  Endpoint endpoint;
  endpoint.route = std::move(route);
  impl_->state->router.add(std::move(endpoint));
}

void Server::add_events(std::string path, Role role, EventStream& stream) {
  Endpoint endpoint;
  endpoint.route.pattern = std::move(path);
  endpoint.route.role = role;
  endpoint.events = stream.impl();
  impl_->state->router.add(std::move(endpoint));
}

void Server::start() {
  asio::co_spawn(impl_->state->executor, accept_all(impl_->state), [](std::exception_ptr) {});
  asio::dispatch(impl_->state->executor, [state = impl_->state] { sweep(state); });
}

void Server::stop() {
  asio::dispatch(impl_->state->executor, [state = impl_->state] {
    if (state->stopping) return;
    state->stopping = true;
    state->stopping_since = steady_clock::now();
    boost::system::error_code ignored;
    state->acceptor.close(ignored);
    state->retry.cancel();
    for (auto* connection : state->connections) connection->finish_soon();
    for (const auto& callback : state->on_stop) callback();
    state->on_stop.clear();  // they may refer to what goes before the connections do
    state->sweep.cancel();
  });
}

void Server::on_stop(std::function<void()> callback) {
  impl_->state->on_stop.push_back(std::move(callback));
}

std::uint16_t Server::port() const {
  return impl_->port;
}

const Ledger& Server::ledger() const {
  return impl_->state->bytes;
}

Server::Counters Server::counters() const {
  const auto& state = *impl_->state;
  return {state.requests, state.errors_4xx, state.errors_5xx, state.open};
}

}  // namespace nightjar::web
