// The outbound HTTP client (libcurl), blocking: for GitHub, wheel indexes, and runner to service.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/model/hex.hpp"

namespace nightjar::web {

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds timeout{30000};
  std::size_t response_limit = 64u << 20;  // bytes; more is a failure
};

struct ClientResponse {
  unsigned status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// No answer came: connection refused, time-out, cut off. `sent`: the request may have been acted
// on.
struct ClientFailure {
  std::string what;  // method, url, cause; never a token
  bool sent = false;
};

// Not thread-safe; keeps its connection alive between requests.
class Client {
 public:
  Client();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  struct Result {
    std::optional<ClientResponse> response;
    ClientFailure failure;
    explicit operator bool() const { return response.has_value(); }
  };
  Result send(const ClientRequest& request);

  // Downloads to `to` (through a temporary name beside it) and returns its SHA-256. `progress` gets
  // bytes so far and total (0: unknown); false cancels. Throws std::runtime_error with url and
  // cause.
  Sha256 download(const std::string& url,
                  const std::vector<std::pair<std::string, std::string>>& headers,
                  const std::filesystem::path& to,
                  std::function<bool(std::uint64_t, std::uint64_t)> progress = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nightjar::web
