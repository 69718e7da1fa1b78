// What a Database holds. Private to this folder; sqlite3.h itself stays in database.cpp,
// statement.cpp and backup.cpp. Also the steps on whole files that opening, backing up and
// restoring share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/trouble.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace nightjar::storage {

struct Database::Impl {
  std::string path;
  sqlite3* connection = nullptr;
  int depth = 0;              // of open transactions
  std::uint32_t commits = 0;  // of this connection
  // Prepared statements that nobody uses at the moment, by their SQL.
  std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> idle;
  mutable std::optional<Trouble> trouble;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  // Runs SQL of any number of statements that needs no parameters and answers no rows.
  void execute(const char* sql);
  // The first column of the first row of a statement without parameters.
  std::int64_t ask(std::string_view sql);
  // Throws Error with path, SQL, SQLite's message and advice, all for SQLite's last error.
  // Remembers it as `trouble` if the file or its disk is the cause.
  [[noreturn]] void fail(std::string_view sql) const;
  // Throws Damaged with the first thing that is wrong with the file, or Error if it cannot be read.
  // `pragma` is "quick_check", which reads each page once, or "integrity_check", which also
  // compares tables with their indexes.
  void require_sound(std::string_view pragma);
};

enum class Access { read, write, create };
std::unique_ptr<Database::Impl> connect(const std::filesystem::path& path, Access access);

// Copies the whole database durably to `to`, which appears under its name only when it is complete
// and sound; a file of that name is replaced. Throws Error.
void copy_database(const Database::Impl& from, const std::filesystem::path& to);

}  // namespace nightjar::storage
