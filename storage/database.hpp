// One SQLite file behind one small wrapper: opens, migrates, backs up, and runs transactions. The
// service holds one writer and several readers; a Database is used by one thread at a time.
// SQL stays in this folder. What a call has returned is on disk: the write-ahead log is synced at
// each commit, so neither kill -9 nor a power cut loses it.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace nightjar::storage {

// The environment failed (disk full, file locked, not a database): message has path and SQL.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The file itself is broken: until it is restored nothing can be trusted.
class Damaged : public Error {
 public:
  using Error::Error;
};

class Statement;

class Database {
 public:
  // Opens for writing, creates if missing, checks the file and applies pending migrations. Before
  // those it makes a backup beside the file, `<path>.before-v<version>`. Throws Error, also for a
  // damaged file, a newer schema, or an interrupted restore. ":memory:" is the tests' double.
  static Database open_writer(const std::filesystem::path& path);
  // Opens an existing, migrated file read-only.
  static Database open_reader(const std::filesystem::path& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // Copies the whole database while it is in use (SQLite's online backup) into a new file, which
  // appears under its name only when it is complete and sound. Throws Error if `to` exists. Takes
  // as long as the copying does: call it on a reader, so that the writer goes on.
  void backup(const std::filesystem::path& to) const;
  // Changes whenever any connection has committed, this one included; for caches.
  std::int64_t data_version() const;
  int schema_version() const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The right to write: every function of this folder that changes rows takes one, and those that
// read take a `const Database&`, which a transaction converts to. BEGIN IMMEDIATE; rolls back
// unless commit() was called. Nested ones are savepoints. Throws Error for a reader.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  operator const Database&() const { return database_; }
  void commit();

 private:
  Database& database_;
  int depth_;
  bool open_ = true;
};

// Runs `change` in a transaction of its own, which is committed unless it throws. Returns what
// `change` returns.
template <std::invocable<Transaction&> Change>
auto write(Database& database, Change change) {
  Transaction transaction(database);
  if constexpr (std::is_void_v<std::invoke_result_t<Change, Transaction&>>) {
    change(transaction);
    transaction.commit();
  } else {
    auto result = change(transaction);
    transaction.commit();
    return result;
  }
}

}  // namespace nightjar::storage
