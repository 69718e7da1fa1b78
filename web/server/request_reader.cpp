#include "web/server/request_reader.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <iterator>
#include <limits>

#include "web/text.hpp"

namespace nightjar::web {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using Parser = http::request_parser<http::string_body>;
namespace {

constexpr std::size_t most_fields = 100;  // each costs more in memory than on its way
constexpr std::size_t field_bytes = 200;  // of the parser's and of our own, about

// What says where the body ends must say it once and in one way (RFC 9112, 6.1 and 6.3).
ReadOutcome framing_of(const Parser::value_type& message) {
  const auto lengths = message.count(http::field::content_length);
  const auto codings = message.count(http::field::transfer_encoding);
  if (codings == 0) {
    // The parser takes a list of equal lengths, too.
    const std::string_view length = message[http::field::content_length];
    const bool once = lengths < 2 && length.find_first_not_of("0123456789") == length.npos;
    return once ? ReadOutcome::ok : ReadOutcome::smuggled;
  }
  if (codings > 1 || lengths > 0 || message.version() < 11) return ReadOutcome::smuggled;
  const auto coding = lower_case(std::string_view(message[http::field::transfer_encoding]));
  if (coding == "chunked") return ReadOutcome::ok;
  return coding.ends_with(",chunked") || coding.ends_with(", chunked") ? ReadOutcome::unknown_coding
                                                                       : ReadOutcome::smuggled;
}

}  // namespace

struct RequestReader::Impl {
  asio::ip::tcp::socket& socket;
  std::size_t header_bytes;
  boost::beast::flat_buffer buffer;  // each connection has one, whole from its first byte on
  std::optional<Parser> parser;
  boost::system::error_code error;

  // g++ 12 miscompiles temporaries in co_await expressions, so the tokens are made here.
  asio::awaitable<std::size_t> read_header() {
    return http::async_read_header(socket, buffer, *parser,
                                   asio::redirect_error(asio::use_awaitable, error));
  }
  asio::awaitable<std::size_t> read_more() {
    return http::async_read_some(socket, buffer, *parser,
                                 asio::redirect_error(asio::use_awaitable, error));
  }
  ReadOutcome outcome() const;
};

ReadOutcome RequestReader::Impl::outcome() const {
  if (!error) return ReadOutcome::ok;
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return ReadOutcome::head_too_large;
  if (error == http::error::body_limit) return ReadOutcome::body_too_large;
  // A client that leaves between requests or in the midst of one gets no answer.
  if (error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != http::make_error_code(http::error::bad_method).category())
    return ReadOutcome::closed;
  return ReadOutcome::malformed;
}

RequestReader::RequestReader(asio::ip::tcp::socket& socket, std::size_t header_bytes)
    : impl_(new Impl{
          socket, header_bytes, boost::beast::flat_buffer(header_bytes), std::nullopt, {}}) {}
RequestReader::~RequestReader() = default;

asio::awaitable<ReadOutcome> RequestReader::read_head() {
  head_ = Head();
  impl_->parser.emplace();
  impl_->parser->header_limit(static_cast<std::uint32_t>(impl_->header_bytes));
  // Known only once the route is. Not boost::none: g++ 12 warns about it under sanitizers.
  impl_->parser->body_limit(std::numeric_limits<std::uint64_t>::max());
  impl_->error.clear();
  co_await impl_->read_header();
  const auto outcome = impl_->outcome();
  co_return outcome == ReadOutcome::ok ? fill_head() : outcome;
}

ReadOutcome RequestReader::fill_head() {
  const auto& message = impl_->parser->get();
  if (const auto framing = framing_of(message); framing != ReadOutcome::ok) return framing;
  const auto fields = std::distance(message.begin(), message.end());
  if (static_cast<std::size_t>(fields) > most_fields) return ReadOutcome::head_too_large;
  head_.method = std::string(message.method_string());
  head_.target = std::string(message.target());
  // Each parameter of the query costs about as much as a field.
  const auto parameters = std::count(head_.target.begin(), head_.target.end(), '&');
  head_.bytes = 3 * head_.target.size() +
                field_bytes * std::min(most_fields, static_cast<std::size_t>(parameters) + 1);
  for (const auto& field : message) {
    head_.bytes += 2 * (field.name_string().size() + field.value().size()) + field_bytes;
    auto& value = head_.headers[lower_case(std::string_view(field.name_string()))];
    const std::string_view added = field.value();
    if (!value.empty() && !added.empty()) value += ", ";
    value += added;
  }
  head_.http_1_0 = message.version() < 11;
  head_.keep_alive = message.keep_alive();
  if (const auto length = impl_->parser->content_length()) head_.content_length = *length;
  head_.has_body = impl_->parser->chunked() || head_.content_length.value_or(0) > 0;
  const auto expect = head_.headers.find("expect");
  head_.expects_continue =
      expect != head_.headers.end() && lower_case(expect->second) == "100-continue";
  return message.count(http::field::host) > 1 ? ReadOutcome::malformed : ReadOutcome::ok;
}

asio::awaitable<ReadOutcome> RequestReader::read_body(std::size_t limit, const Progress& progress) {
  if (head_.content_length.value_or(0) > limit) co_return ReadOutcome::body_too_large;
  impl_->parser->body_limit(limit);
  impl_->parser->eager(true);
  while (!impl_->parser->is_done() && !impl_->error) {
    co_await impl_->read_more();
    const std::size_t so_far = impl_->parser->get().body().size();
    if (!impl_->error && !progress(so_far)) co_return ReadOutcome::stopped;
  }
  co_return impl_->outcome();
}

std::string RequestReader::take_body() {
  return std::move(impl_->parser->get().body());
}

void RequestReader::drop() {
  impl_->parser.reset();
  impl_->buffer.clear();
  impl_->buffer.shrink_to_fit();
}

}  // namespace nightjar::web
