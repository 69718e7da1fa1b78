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
  class Borrowed {
   public:
    Borrowed(Readers& owner, std::unique_ptr<storage::Database> database)
        : owner_(owner), database_(std::move(database)) {}
    ~Borrowed() { owner_.give_back(std::move(database_)); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    storage::Database& operator*() const { return *database_; }

   private:
    Readers& owner_;
    std::unique_ptr<storage::Database> database_;
  };
  // Throws storage::Error if the file cannot be opened.
  Borrowed borrow();

 private:
  void give_back(std::unique_ptr<storage::Database> database);
  std::filesystem::path file_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<storage::Database>> idle_;
};

}  // namespace nightjar::service::api
