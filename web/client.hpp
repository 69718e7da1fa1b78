// The outbound HTTP client (libcurl), blocking: for GitHub, wheel indexes, and runner to service.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/model/hex.hpp"
#include "web/reach.hpp"

namespace nightjar::web {

// Who writes to a bucket of S3. A request with it is signed (AWS Signature Version 4).
struct BucketLogin {
  std::string region, key, secret;
  std::string session;  // of a passing key; empty: none
};

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds timeout{30000};
  // The timeout is for standing still, not for the whole: an upload that makes progress goes on.
  // Once the body is sent, the whole answer has as long.
  bool while_moving = false;
  std::size_t response_limit = 64u << 20;  // bytes; more is a failure
  std::optional<BucketLogin> bucket = {};
};

struct ClientResponse {
  unsigned status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string url;  // that answered, after redirects
};

// No answer came: connection refused, time-out, cut off. The request may have been acted on.
struct ClientFailure {
  std::string what;  // method, url, cause; never a token
};

// Whether a refusal with this status may pass by itself: 5xx, what a proxy asks for (407), too slow
// (408), too early (425) or too often (429).
bool may_pass(unsigned status);

// The server refuses what is asked for: it answered 4xx, which does not pass by itself. A bucket
// answers 403 for an object that is not there.
class Withheld : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bytes [offset, offset + size) of a resource; size is at least 1.
struct RangeRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// Why a range did not come, or not all of it. Bytes that were handed over before are right.
struct RangeFailure {
  // no_answer: refused, timed out or cut off. status: another status than 206. ignored: the server
  // sends the whole file (200) or another range than asked for. cancelled: the caller's own wish.
  enum class Kind { no_answer, status, ignored, cancelled };
  Kind kind = Kind::no_answer;
  std::string what;                            // method, url, range, cause; never a token
  unsigned status = 0;                         // 0: no answer
  std::map<std::string, std::string> headers;  // of the answer, names in lower case
};

// What this process shows to one server, and whom it believes there. Files are in PEM.
struct ClientIdentity {
  std::string origin;                 // "https://nightjar.example.org"
  std::filesystem::path certificate;  // shown where the server asks for one; empty: none
  std::filesystem::path key;          // of the certificate; empty: it stands in the same file
  std::filesystem::path authorities;  // who signs the server's; empty: SSL_CERT_FILE's
};

// For all clients of this process. To be called before the first of them sends.
void set_identity(ClientIdentity identity);

// Not thread-safe; keeps its connection alive between requests. A request reaches the origin of its
// URL, and by redirects only that or public addresses. A proxy of the environment resolves names
// itself, so behind one only addresses in numbers are judged.
class Client {
 public:
  Client();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Gives up downloads and ranges that stay below 1 KiB/s for this time; a minute by default.
  void give_up_after(std::chrono::seconds standing_still);

  // Limits all later requests to these hosts, their own URLs included. For URLs from outside.
  void reach_only(Reach reach);
  // From now on a request fails soon after `stop` is requested.
  void stop_with(std::stop_token stop);

  struct Result {
    std::optional<ClientResponse> response;
    ClientFailure failure;
    explicit operator bool() const { return response.has_value(); }
  };
  Result send(const ClientRequest& request);

  // Reads one range and hands it over block by block as it comes; `take` returns false to cancel.
  // Checks status 206 and Content-Range before the first block: of a server that ignores the range
  // no body is read, however large it is. nullopt: every byte was handed over. There is no limit
  // for the whole, only for standing still, see give_up_after().
  std::optional<RangeFailure> read_range(const RangeRequest& request,
                                         const std::function<bool(std::string_view)>& take);

  // Passes an answer on while it comes: `head` gets it without its body, whatever its status, and
  // `take` then the body block by block. Each returns false to cancel. nullopt: all was passed on.
  std::optional<ClientFailure> relay(const ClientRequest& request,
                                     const std::function<bool(const ClientResponse&)>& head,
                                     const std::function<bool(std::string_view)>& take);

  // Downloads to `to` (through a temporary name beside it) and returns its SHA-256. More than
  // `most_bytes`, or more than six hours, is a failure. `progress` gets
  // bytes so far and total (0: unknown); false cancels. Throws std::runtime_error with url and
  // cause, which is a Withheld if the server answered so.
  Sha256 download(const std::string& url,
                  const std::vector<std::pair<std::string, std::string>>& headers,
                  const std::filesystem::path& to,
                  std::function<bool(std::uint64_t, std::uint64_t)> progress = {},
                  std::uint64_t most_bytes = 16ull << 30);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nightjar::web
