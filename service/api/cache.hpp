// Answers to queries for as long as the database does not change, so that a page that many people
// watch costs one query a change. Belongs to the I/O thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "web/server/message.hpp"

namespace nightjar::service::api {

class Cache {
 public:
  explicit Cache(std::filesystem::path file) : file_(std::move(file)) {}

  using Answer = std::shared_ptr<const web::Response>;
  using Waiting = std::function<void(const Answer&)>;
  struct Ticket {
    std::int64_t version = 0;
    std::string key;
  };

  // The database's version now; what was kept of another one is forgotten.
  Ticket ticket(const web::Request& request);
  // The kept answer; nullptr if there is none.
  Answer find(const Ticket& ticket) const;
  // The answer's ETag, which is kept longer than the answer; empty: it is not known.
  std::string etag(const Ticket& ticket) const;
  // Lets `waiting` have the answer when it is there. True: nobody asks for it yet, so the caller
  // must, and then call put().
  bool join(const Ticket& ticket, Waiting waiting);
  // Keeps a 200 and gives the answer to all that wait for it.
  void put(const Ticket& ticket, web::Response response);

 private:
  static constexpr std::size_t max_bytes = 8u << 20;
  static constexpr std::size_t max_etags = 10'000;
  std::filesystem::path file_;
  std::optional<storage::Database> database_;  // asked for its version only
  std::int64_t version_ = 0;
  std::size_t bytes_ = 0;
  std::map<std::string, Answer> answers_;
  std::map<std::string, std::string> etags_;
  std::map<std::pair<std::int64_t, std::string>, std::vector<Waiting>> asked_;
};

}  // namespace nightjar::service::api
