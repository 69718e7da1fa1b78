// Read-only databases for whoever needs one for a moment. From any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "storage/database.hpp"

namespace nightjar::service::api {

class Readers {
 public:
  explicit Readers(std::filesystem::path file) : file_(std::move(file)) {}

  // A database of one's own until it goes out of scope.
  class Lease {
   public:
    Lease(Readers& owner, std::unique_ptr<storage::Database> database)
        : owner_(owner), database_(std::move(database)) {}
    ~Lease() { owner_.give_back(std::move(database_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    storage::Database& operator*() const { return *database_; }

   private:
    Readers& owner_;
    std::unique_ptr<storage::Database> database_;
  };
  // Throws storage::Error if the file cannot be opened.
  Lease lease();

 private:
  void give_back(std::unique_ptr<storage::Database> database);
  std::filesystem::path file_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<storage::Database>> idle_;
};

}  // namespace nightjar::service::api
