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
#include <tuple>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/hex.hpp"
#include "web/server/ledger.hpp"
#include "web/server/message.hpp"

namespace nightjar::service::api {

class Cache {
 public:
  explicit Cache(std::filesystem::path file) : file_(std::move(file)) {}
  // What is kept is charged there, to Account::cache. Nothing is kept before.
  void charge_to(const web::Ledger& ledger) { ledger_ = ledger; }

  using Answer = std::shared_ptr<const web::Response>;
  using Waiting = std::function<void(const Answer&)>;
  struct Ticket {
    std::int64_t version = 0;
    Sha256 key;                        // of one size, however long the question is
    web::Role role = web::Role::none;  // nobody waits for the turn of a lower one
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
  struct Kept {
    Answer answer;
    web::Charge charge;
  };
  struct Tag {
    std::string etag;
    web::Charge charge;
  };
  // Forgets what there is if it takes that to have room for `bytes`; nullopt: even so there is
  // none.
  std::optional<web::Charge> charge(std::size_t bytes);

  std::filesystem::path file_;
  std::optional<web::Ledger> ledger_;
  std::optional<storage::Database> database_;  // asked for its version only
  std::int64_t version_ = 0;
  std::map<Sha256, Kept> answers_;
  std::map<Sha256, Tag> etags_;
  std::map<std::tuple<std::int64_t, Sha256, web::Role>, std::vector<Waiting>> asked_;
};

}  // namespace nightjar::service::api
