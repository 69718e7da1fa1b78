#include "web/server/connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <exception>
#include <sys/socket.h>

// In every co_await expression of this folder: named variables only, no braces, no lambdas; an
// ordinary function returns the awaitable. g++ 12 destroys such temporaries twice.
namespace nightjar::web {
namespace asio = boost::asio;
using std::chrono::steady_clock;
namespace {

constexpr std::size_t progress_bytes = 16u << 10;  // that move the deadline of a body

Response busy(std::string_view why) {
  auto response = problem(503, "Busy", why);
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

// The last address that no trusted proxy has: what stands before it is the client's own claim.
asio::ip::address client_behind(std::string_view forwarded_for, const asio::ip::address& proxy,
                                const std::set<asio::ip::address>& trusted) {
  asio::ip::address client = proxy;
  while (!forwarded_for.empty() && trusted.contains(client)) {
    const auto comma = forwarded_for.rfind(',');
    auto last = forwarded_for.substr(comma == forwarded_for.npos ? 0 : comma + 1);
    forwarded_for = forwarded_for.substr(0, comma == forwarded_for.npos ? 0 : comma);
    last.remove_prefix(std::min(last.find_first_not_of(" \t"), last.size()));
    last = last.substr(0, last.find_last_not_of(" \t") + 1);
    boost::system::error_code error;
    const auto address = asio::ip::make_address(last, error);
    if (error) break;
    client = address;
  }
  return client;
}

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
  forget_body();
  forget_answer();
  forget_address();
  if (stream_counted_) --state_->anonymous_streams;
  state_->connections.erase(this);
  --state_->open;
}

void Connection::start(std::shared_ptr<Connection> self, bool refuse) {
  boost::system::error_code ignored;
  self->socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  auto executor = self->socket_.get_executor();
  refuse = !self->count_address() || refuse;
  auto work = refuse ? self->refuse() : self->serve();
  asio::co_spawn(executor, std::move(work), [self](std::exception_ptr) { self->close(); });
}

asio::awaitable<void> Connection::serve() {
  bool more = true;
  while (more && !state_->stopping) {
    enter(Phase::idle, state_->config.limits.read_timeout);
    const auto outcome = co_await reader_.read_head();
    if (outcome == ReadOutcome::closed) break;
    more = co_await serve_request(outcome);
  }
  if (unread_) co_await linger();
  close();
}

asio::awaitable<void> Connection::refuse() {
  response_ = problem(503, "Too many connections", "The server is at its limit; try again later.");
  response_.headers.emplace_back("Retry-After", "1");
  co_await send(false);
  co_await linger();
  close();
}

asio::awaitable<bool> Connection::serve_request(ReadOutcome head) {
  enter(Phase::reading, state_->config.limits.read_timeout);
  ++state_->requests;
  ++sequence_;
  answered_ = timed_out_ = head_only_ = false;
  response_ = Response();
  auto refused = admit(head);
  if (!refused) refused = refuse_by_head();
  const bool has_body = head == ReadOutcome::ok && reader_.head().has_body;
  bool keep_alive = head == ReadOutcome::ok && reader_.head().keep_alive;
  if (refused && (has_body || head != ReadOutcome::ok)) unread_ = true;
  if (!refused && has_body && endpoint_->route.judge) refused = co_await judge_head();
  if (!refused && has_body) {
    const std::size_t limit = endpoint_->route.body_limit;
    if (reader_.head().expects_continue && reader_.head().content_length.value_or(0) <= limit) {
      out_ = {asio::buffer("HTTP/1.1 100 Continue\r\n\r\n", 25), asio::const_buffer()};
      co_await write_out();
    }
    extended_at_ = 0;
    const RequestReader::Progress progress = [this](std::size_t so_far) {
      return take_more(so_far);
    };
    const auto outcome = co_await reader_.read_body(limit, progress);
    if (outcome == ReadOutcome::closed) co_return false;
    if (outcome == ReadOutcome::stopped)
      refused = busy("Others are sending bodies without a token; try again later.");
    else if (outcome == ReadOutcome::body_too_large)
      refused = problem(413, "Body too large",
                        "The body is larger than the " + std::to_string(limit) + " bytes that " +
                            request_->path + " accepts.");
    else if (outcome != ReadOutcome::ok)
      refused = problem(400, "Malformed body", "The body is not well-formed HTTP.");
    unread_ = refused.has_value();
  }
  if (refused) {
    // Whoever is refused may go on sending for seconds: what came of it is not kept so long.
    if (unread_) reader_.drop();
    response_ = *std::move(refused);
  } else if (endpoint_->events && !head_only_ && !may_stream()) {
    response_ = busy("Too many listen to events without a token; try again later.");
  } else if (endpoint_->events && !head_only_) {
    co_await send_events(endpoint_->events);
    co_return false;
  } else if (endpoint_->events) {
    response_.content_type = "text/event-stream";
  } else {
    request_->body = reader_.take_body();
    enter(Phase::handling, state_->config.limits.handler_timeout);
    call_handler();
    while (!answered_ && !timed_out_) co_await wait();
    ++sequence_;  // a later answer is for nobody
    if (!answered_)
      response_ = problem(504, "No answer in time", request_->path + " took too long; try again.");
  }
  forget_body();
  keep_alive = keep_alive && !unread_ && !state_->stopping;
  co_await send(keep_alive);
  forget_answer();
  if (proxy_) forget_address();
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

asio::awaitable<void> Connection::linger() {
  // A close with unread bytes would reset the connection before the client has read the answer.
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  enter(Phase::writing, std::chrono::seconds(5));
  std::size_t left = 32u << 20;
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
  close();
  wake();
}

void Connection::close() {
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

std::optional<Response> Connection::refuse_by_head() const {
  const Route& route = endpoint_->route;
  const bool fits = reader_.head().content_length.value_or(0) <= route.body_limit;
  return fits && route.refuse ? route.refuse(*request_) : std::nullopt;
}

bool Connection::take_more(std::size_t so_far) {
  if (request_->principal.role == Role::none) {
    state_->anonymous_body_bytes += so_far - anonymous_bytes_;
    anonymous_bytes_ = so_far;
    return state_->anonymous_body_bytes <= state_->config.limits.anonymous_body_bytes;
  }
  if (so_far - extended_at_ >= progress_bytes) {
    extended_at_ = so_far;
    enter(Phase::reading, state_->config.limits.read_timeout);
  }
  return true;
}

void Connection::forget_body() {
  state_->anonymous_body_bytes -= anonymous_bytes_;
  anonymous_bytes_ = 0;
}

void Connection::limit_answer() {
  if (!request_ || request_->principal.role != Role::none) return;
  const std::size_t bytes = response_.body.size();
  if (state_->anonymous_answer_bytes + bytes > state_->config.limits.anonymous_answer_bytes) {
    response_ = busy("Others do not read what they asked for without a token; try again later.");
    return;
  }
  answer_bytes_ = bytes;
  state_->anonymous_answer_bytes += bytes;
}

void Connection::forget_answer() {
  state_->anonymous_answer_bytes -= answer_bytes_;
  answer_bytes_ = 0;
}

bool Connection::count_address() {
  boost::system::error_code error;
  const auto address = socket_.remote_endpoint(error).address();
  if (error) return true;
  if (state_->trusted_proxies.contains(address)) {
    proxy_ = address;
    return true;
  }
  return count(address);
}

std::optional<Response> Connection::count_client() {
  if (!proxy_) return std::nullopt;
  const auto named = request_->header("x-forwarded-for").value_or("");
  if (count(client_behind(named, *proxy_, state_->trusted_proxies))) return std::nullopt;
  return busy("Too many requests without a token come from this address; try again later.");
}

bool Connection::count(const asio::ip::address& address) {
  counted_ = address;
  return ++state_->anonymous[address] <= state_->config.limits.anonymous_by_address;
}

void Connection::forget_address() {
  if (!counted_) return;
  const auto found = state_->anonymous.find(*counted_);
  if (--found->second == 0) state_->anonymous.erase(found);
  counted_.reset();
}

void Connection::count_stream() {
  if (request_->principal.role != Role::none) return;
  ++state_->anonymous_streams;
  stream_counted_ = true;
}

bool Connection::may_stream() const {
  return request_->principal.role != Role::none ||
         state_->anonymous_streams < state_->config.limits.anonymous_streams;
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
  });
}

}  // namespace nightjar::web
