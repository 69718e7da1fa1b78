#include "web/server/connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <exception>
#include <sys/socket.h>

#include "web/server/problems.hpp"

// In every co_await expression of this folder: named variables only, no braces, no lambdas; an
// ordinary function returns the awaitable. g++ 12 destroys such temporaries twice.
namespace nightjar::web {
namespace asio = boost::asio;
using std::chrono::steady_clock;
namespace {

constexpr std::size_t most_lingering = 32u << 20;  // bytes that nobody reads

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, std::shared_ptr<ServerState> state)
    : state_(std::move(state)),
      socket_(std::move(socket)),
      wake_(socket_.get_executor(), steady_clock::time_point::max()),
      reader_(socket_, state_->config.limits.header_bytes) {
  state_->connections.insert(this);
  ++state_->open;
}

Connection::~Connection() {
  leave_place();
  state_->connections.erase(this);
  --state_->open;
}

void Connection::start(std::shared_ptr<Connection> self) {
  boost::system::error_code error;
  keep_from_children(self->socket_.native_handle());
  self->socket_.set_option(asio::ip::tcp::no_delay(true), error);
  const auto address = self->socket_.remote_endpoint(error).address();
  if (!error) {
    self->address_ = network_of(address);
    if (self->state_->trusted_proxies.contains(address)) self->proxy_ = address;
  }
  auto executor = self->socket_.get_executor();
  auto work = self->serve();
  asio::co_spawn(executor, std::move(work), [self](std::exception_ptr) { self->close(); });
}

asio::awaitable<void> Connection::serve() {
  bool more = true;
  while (more && !state_->stopping) {
    enter(Phase::idle, state_->config.limits.read_timeout);
    if (!principal_) arrive();
    const auto outcome = co_await reader_.read_head();
    if (outcome == ReadOutcome::closed || !socket_.is_open()) break;
    more = co_await serve_request(outcome);
    end_request();
  }
  if (unread_) co_await linger();
  close();
}

asio::awaitable<bool> Connection::serve_request(ReadOutcome head) {
  enter(Phase::reading, state_->config.limits.read_timeout);
  ++state_->requests;
  ++sequence_;
  answered_ = timed_out_ = head_only_ = false;
  auto refused = head_problem(head);
  if (!refused && !settle()) {
    turn_away();
    co_return false;
  }
  if (!refused) refused = admit();
  if (!refused) refused = refuse_by_head();
  const bool has_body = head == ReadOutcome::ok && reader_.head().has_body;
  if (refused && (has_body || head != ReadOutcome::ok)) unread_ = true;
  if (!refused && has_body && endpoint_->route.judge) refused = co_await judge_head();
  if (!refused && has_body) {
    const auto outcome = co_await read_body();
    if (outcome == ReadOutcome::closed) co_return false;
    refused = body_problem(outcome, *request_, endpoint_->route.body_limit);
    unread_ = refused.has_value();
  }
  const bool streams = !refused && endpoint_->events;
  if (streams && !head_only_) refused = charge_stream();
  if (refused) {
    // A refused client may go on sending for seconds. Its body is not kept until then.
    if (unread_) drop_body();
    response_ = *std::move(refused);
  } else if (streams && !head_only_) {
    co_await send_events();
    co_return false;
  } else if (streams) {
    response_.content_type = "text/event-stream";
  } else {
    co_await handle();
  }
  const bool keep_alive =
      head == ReadOutcome::ok && reader_.head().keep_alive && !unread_ && !state_->stopping;
  co_await send(keep_alive);
  co_return keep_alive && !error_;
}

asio::awaitable<std::optional<Response>> Connection::judge_head() {
  enter(Phase::handling, state_->config.limits.handler_timeout);
  call_judge();
  while (!answered_ && !timed_out_) co_await wait();
  std::optional<Response> verdict = std::move(verdict_);
  if (!answered_)
    verdict = problem(504, "No answer in time", request_->path + " took too long; try again.");
  unread_ = verdict.has_value();
  ++sequence_;  // a later verdict is for nobody
  answered_ = timed_out_ = false;
  enter(Phase::reading, state_->config.limits.read_timeout);
  co_return verdict;
}

asio::awaitable<ReadOutcome> Connection::read_body() {
  const std::size_t limit = endpoint_->route.body_limit;
  if (reader_.head().expects_continue && reader_.head().content_length.value_or(0) <= limit) {
    out_ = {asio::buffer("HTTP/1.1 100 Continue\r\n\r\n", 25), asio::const_buffer()};
    co_await write_out();
  }
  extended_at_ = 0;
  const RequestReader::Progress progress = [this](std::size_t so_far) { return take_more(so_far); };
  co_return co_await reader_.read_body(limit, progress);
}

void Connection::drop_body() {
  reader_.drop();
  if (request_) request_->charge->try_resize(reader_.head().bytes);  // less is always possible
}

asio::awaitable<void> Connection::handle() {
  request_->body = reader_.take_body();
  enter(Phase::handling, state_->config.limits.handler_timeout);
  call_handler();
  while (!answered_ && !timed_out_) co_await wait();
  ++sequence_;  // a later answer is for nobody
  if (!answered_)
    response_ = problem(504, "No answer in time", request_->path + " took too long; try again.");
}

void Connection::end_request() {
  endpoint_.reset();
  request_.reset();
  response_ = Response();
  head_ = std::string();
  chunk_ = std::string();
  answer_charge_ = Charge();
  stream_charge_ = Charge();
}

asio::awaitable<void> Connection::linger() {
  // A close with unread bytes would reset the connection before the client has read the answer.
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  enter(Phase::writing, std::chrono::seconds(5));
  std::size_t left = most_lingering;
  error_.clear();
  while (!error_ && left > 0) {
    const std::size_t count = co_await read_some();
    left -= std::min(left, count);
  }
}

asio::awaitable<std::size_t> Connection::read_some() {
  return socket_.async_read_some(asio::buffer(waste_),
                                 asio::redirect_error(asio::use_awaitable, error_));
}

asio::awaitable<std::size_t> Connection::write_out() {
  return asio::async_write(socket_, out_, asio::redirect_error(asio::use_awaitable, error_));
}

asio::awaitable<void> Connection::wait() {
  return wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored_));
}

void Connection::wake() {
  wake_.cancel();
}

void Connection::enter(Phase phase, steady_clock::duration limit) {
  phase_ = phase;
  deadline_ = steady_clock::now() + limit;
}

void Connection::expire(steady_clock::time_point now) {
  if (now < deadline_) return;
  timed_out_ = true;
  if (phase_ == Phase::handling)
    wake();
  else
    close();
}

void Connection::finish_soon() {
  if (phase_ == Phase::idle) close();
  if (phase_ == Phase::streaming) abort();
}

void Connection::abort() {
  timed_out_ = true;
  if (request_) *request_->gone = true;
  close();
  wake();
}

void Connection::close() {
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

void Connection::watch_client() {
  if (watching_) return;
  watching_ = true;
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [weak = weak_from_this()](auto error) {
    const auto self = weak.lock();
    if (!self) return;
    self->watching_ = false;
    char byte = 0;
    const bool hung_up =
        error || ::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    if (hung_up && self->phase_ == Phase::handling) *self->request_->gone = true;
    if (hung_up && self->phase_ == Phase::streaming) self->abort();
  });
}

}  // namespace nightjar::web
