// Reads the requests of one connection, one after the other; hides Beast's parser. Pipelined
// requests wait in its buffer.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace nightjar::web {

struct Head {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case; repeated ones joined by ", "
  bool http_1_0 = false;
  bool keep_alive = false;
  bool has_body = false;
  bool expects_continue = false;
  std::optional<std::uint64_t> content_length;
  std::size_t bytes = 0;  // that it takes in memory, about
};

// smuggled: what frames the body can be read in two ways, so a proxy might have read the other.
// unknown_coding: Transfer-Encoding names more than chunked.
enum class ReadOutcome {
  ok,
  closed,
  malformed,
  head_too_large,
  smuggled,
  unknown_coding,
  body_too_large,
  stopped
};

class RequestReader {
 public:
  // Both outlive it. A head of more than `header_bytes` is head_too_large.
  RequestReader(boost::asio::ip::tcp::socket& socket, std::size_t header_bytes);
  ~RequestReader();
  // Discards what is known of the request before. A head of more than 100 fields is too large, too.
  boost::asio::awaitable<ReadOutcome> read_head();
  const Head& head() const { return head_; }
  std::map<std::string, std::string> take_headers() { return std::move(head_.headers); }
  // Reads at most `limit` bytes; if Content-Length is above it, nothing. `progress` is called after
  // each piece with the length of the body so far; if it returns false, the rest is not read.
  using Progress = std::function<bool(std::size_t so_far)>;
  boost::asio::awaitable<ReadOutcome> read_body(std::size_t limit, const Progress& progress);
  std::string take_body();
  // Frees what was read of a request whose rest is not needed. Nothing can be read afterwards.
  void drop();

 private:
  struct Impl;
  ReadOutcome fill_head();
  std::unique_ptr<Impl> impl_;
  Head head_;
};

}  // namespace nightjar::web
