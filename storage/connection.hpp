// What a Database holds. Private to this folder; sqlite3.h itself stays in database.cpp, statement.cpp
// and backup.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace nightjar::storage {

struct Database::Impl {
  std::string path;
  sqlite3* connection = nullptr;
  int depth = 0;             // of open transactions
  std::uint32_t commits = 0;  // of this connection
  // Prepared statements that nobody uses at the moment, by their SQL.
  std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> idle;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  // Runs SQL of any number of statements that needs no parameters and answers no rows.
  void execute(const char* sql);
  // The first column of the first row of a statement without parameters.
  std::int64_t ask(std::string_view sql);
  // Throws Error with path, SQL, SQLite's message and advice, all for SQLite's last error.
  [[noreturn]] void fail(std::string_view sql) const;
};

}  // namespace nightjar::storage
