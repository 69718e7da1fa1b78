// How a connection writes: heads, bodies, files piece by piece, and streams of events.
#include <boost/asio/post.hpp>
#include <boost/beast/http/status.hpp>
#include <charconv>

#include "web/secret.hpp"
#include "web/server/connection.hpp"
#include "web/server/events.hpp"

namespace nightjar::web {
namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace {

constexpr std::chrono::seconds heartbeat{15};
// `style`: the text of the page's own, if it has one.
std::string page_headers(const std::string& style) {
  return "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'" +
         (style.empty() ? "" : " " + policy_source(style)) +
         "; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
         "form-action 'none'; frame-ancestors 'none'\r\n"
         "X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n";
}

bool has_length(unsigned status) {
  return status >= 200 && status != 204 && status != 304;
}

// By hand, since Beast's fields take line breaks in values as they are.
void field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ");
  for (const char c : value) head.push_back(c == '\r' || c == '\n' ? ' ' : c);
  head.append("\r\n");
}

std::optional<std::uint64_t> last_event_id(const Request& request) {
  const auto text = request.header("last-event-id");
  std::uint64_t id = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), id);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return id;
}

// Chooses what of the file is sent; true if there is something to send.
bool select_part(OpenFile& file, const Request& request, Response& response) {
  const auto range = request.header("range"), condition = request.header("if-range");
  std::string tag;
  for (const auto& [name, value] : response.headers)
    if (name == "ETag") tag = value;
  response.headers.emplace_back("Accept-Ranges", "bytes");
  if (!range || response.status != 200 || (condition && *condition != tag)) return true;
  const auto part = parse_range(*range, file.size());
  const auto size = std::to_string(file.size());
  if (const auto* bytes = std::get_if<ByteRange>(&part)) {
    response.status = 206;
    response.headers.emplace_back("Content-Range", "bytes " + std::to_string(bytes->first) + "-" +
                                                       std::to_string(bytes->last) + "/" + size);
    file.select(bytes->first, bytes->last - bytes->first + 1);
  }
  if (!std::holds_alternative<NoSuchRange>(part)) return true;
  response = problem(416, "No such range", "The file has " + size + " bytes.");
  response.headers.emplace_back("Content-Range", "bytes */" + size);
  return false;
}

}  // namespace

asio::awaitable<void> Connection::send(bool keep_alive) {
  enter(Phase::writing, state_->config.limits.write_timeout);
  error_.clear();
  if (response_.file) {
    open_file();
    while (!file_ready_) co_await wait();
    if (!file_) response_ = problem(404, "Not found", "The file is not there.");
  }
  if (file_ && !select_part(*file_, *request_, response_)) file_.reset();
  charge_answer();
  if (response_.status >= 500)
    ++state_->errors_5xx;
  else if (response_.status >= 400)
    ++state_->errors_4xx;
  write_head(keep_alive, file_ ? file_->left() : response_.body.size());
  const bool with_body = !head_only_ && !file_ && has_length(response_.status);
  out_[0] = asio::buffer(head_);
  out_[1] = with_body ? asio::const_buffer(asio::buffer(response_.body)) : asio::const_buffer();
  co_await write_out();
  if (file_ && !head_only_ && !error_) co_await send_file();
  file_.reset();
}

asio::awaitable<void> Connection::send_file() {
  while (file_->left() > 0 && !error_) {
    read_chunk();
    while (!file_ready_) co_await wait();
    // Shorter than announced: only an end of the connection tells the client.
    if (chunk_.empty()) error_ = asio::error::eof;
    if (error_) break;
    out_[0] = asio::buffer(chunk_);
    out_[1] = asio::const_buffer();
    enter(Phase::writing, state_->config.limits.write_timeout);
    co_await write_out();
  }
}

void Connection::open_file() {
  file_ready_ = false;
  auto path = *response_.file;
  asio::post(state_->files, [self = shared_from_this(), path = std::move(path)]() mutable {
    auto file = OpenFile::open(path);
    auto& connection = *self;
    asio::post(connection.state_->executor,
               [self = std::move(self), file = std::move(file)]() mutable {
                 self->file_ = std::move(file);
                 self->file_ready_ = true;
                 self->wake();
               });
  });
}

void Connection::read_chunk() {
  file_ready_ = false;
  asio::post(state_->files, [self = shared_from_this()]() mutable {
    auto& connection = *self;
    connection.file_->read(connection.chunk_, file_chunk);
    asio::post(connection.state_->executor, [self = std::move(self)] {
      self->file_ready_ = true;
      self->wake();
    });
  });
}

void Connection::write_head(bool keep_alive, std::uint64_t length) {
  head_.clear();
  head_.append("HTTP/1.1 ").append(std::to_string(response_.status)).append(" ");
  head_.append(http::obsolete_reason(http::int_to_status(response_.status))).append("\r\n");
  field(head_, "Server", "nightjar");
  field(head_, "Date", state_->date());
  field(head_, "X-Content-Type-Options", "nosniff");
  if (has_length(response_.status)) {
    field(head_, "Content-Type", response_.content_type);
    field(head_, "Content-Length", std::to_string(length));
  }
  if (response_.content_type.starts_with("text/html")) head_ += page_headers(response_.page_style);
  for (const auto& [name, value] : response_.headers) field(head_, name, value);
  if (!keep_alive)
    field(head_, "Connection", "close");
  else if (reader_.head().http_1_0)
    field(head_, "Connection", "keep-alive");
  head_ += "\r\n";
}

asio::awaitable<void> Connection::send_events() {
  const auto events = endpoint_->events;
  const auto weak = weak_from_this();
  const auto executor = state_->executor;
  const std::function<void()> wakes = [weak, executor] {
    asio::post(executor, [weak] {
      if (const auto self = weak.lock()) self->wake();
    });
  };
  auto subscriber = events->subscribe(last_event_id(*request_), std::move(answer_charge_), wakes);
  head_ =
      "HTTP/1.1 200 OK\r\nServer: nightjar\r\nContent-Type: text/event-stream\r\n"
      "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\nConnection: close\r\n\r\n"
      "retry: 3000\n\n";
  error_.clear();
  bool quiet = false;
  while (!error_ && !timed_out_ && !state_->stopping) {
    auto text = events->take(*subscriber);
    if (!text) break;  // too slow: it comes back with Last-Event-ID
    head_ += text->empty() && quiet ? ":\n\n" : *text;
    text.reset();
    out_[0] = asio::buffer(head_);
    out_[1] = asio::const_buffer();
    enter(Phase::streaming, state_->config.limits.write_timeout);
    co_await write_out();
    head_ = std::string();
    events->written(*subscriber);
    deadline_ = std::chrono::steady_clock::time_point::max();
    wake_.expires_after(heartbeat);
    watch_client();  // one that hangs up gives its place back at once
    if (!error_ && !timed_out_) co_await wait();
    quiet = true;
  }
  wake_.expires_at(std::chrono::steady_clock::time_point::max());
}

}  // namespace nightjar::web
