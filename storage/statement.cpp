#include "storage/statement.hpp"

#include <cstring>
#include <limits>
#include <sqlite3.h>
#include <stdexcept>

// A wrapper of our own, since the types that decide who may write are the point of it: a library's
// statement takes any connection.
namespace nightjar::storage {

namespace {

std::vector<sqlite3_stmt*>& idle_of(Database::Impl& connection, std::string_view sql) {
  const auto found = connection.idle.find(sql);
  return found != connection.idle.end() ? found->second : connection.idle[std::string(sql)];
}

}  // namespace

Statement::Statement(Database::Impl& connection, std::string_view sql)
    : connection_(connection), idle_(idle_of(connection, sql)) {
  if (!idle_.empty()) {
    statement_ = idle_.back();
    idle_.pop_back();
  } else if (sqlite3_prepare_v3(connection_.connection, sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) != SQLITE_OK) {
    connection_.fail(sql);
  }
}

Statement::Statement(const Database& database, std::string_view sql)
    : Statement(database.impl(), sql) {
  if (!sqlite3_stmt_readonly(statement_))
    throw std::logic_error("'" + std::string(sql) + "' writes, which needs a transaction");
}

Statement::Statement(Transaction& transaction, std::string_view sql)
    : Statement(static_cast<const Database&>(transaction).impl(), sql) {}

Statement::~Statement() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  try {
    idle_.push_back(statement_);
  } catch (...) {
    sqlite3_finalize(statement_);
  }
}

void Statement::fail() const {
  connection_.fail(sqlite3_sql(statement_));
}

bool Statement::step() {
  column_ = 0;
  parameter_ = 0;
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      fail();
  }
}

void Statement::run() {
  step();
  reset();
}

void Statement::reset() {
  sqlite3_reset(statement_);
  parameter_ = 0;
}

int Statement::changes() const {
  return sqlite3_changes(connection_.connection);
}

std::int64_t Statement::inserted_id() const {
  return sqlite3_last_insert_rowid(connection_.connection);
}

void Statement::bind_integer(std::int64_t value) {
  if (sqlite3_bind_int64(statement_, ++parameter_, value) != SQLITE_OK) fail();
}

void Statement::bind_next(std::nullopt_t) {
  if (sqlite3_bind_null(statement_, ++parameter_) != SQLITE_OK) fail();
}

void Statement::bind_next(double value) {
  if (sqlite3_bind_double(statement_, ++parameter_, value) != SQLITE_OK) fail();
}

void Statement::bind_next(std::string_view text) {
  const char* bytes = text.data() ? text.data() : "";
  if (sqlite3_bind_text64(statement_, ++parameter_, bytes, text.size(), SQLITE_STATIC,
                          SQLITE_UTF8) != SQLITE_OK)
    fail();
}

void Statement::bind_next(std::span<const double> blob) {
  static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == 8);
  const void* bytes = blob.empty() ? "" : static_cast<const void*>(blob.data());
  if (sqlite3_bind_blob64(statement_, ++parameter_, bytes, blob.size_bytes(), SQLITE_STATIC) !=
      SQLITE_OK)
    fail();
}

bool Statement::next_is_null() const {
  return sqlite3_column_type(statement_, column_) == SQLITE_NULL;
}

std::int64_t Statement::next_integer() {
  return sqlite3_column_int64(statement_, column_++);
}

double Statement::read(double*) {
  const bool null = next_is_null();
  const double value = sqlite3_column_double(statement_, column_++);
  return null ? std::numeric_limits<double>::quiet_NaN() : value;
}

std::string Statement::read(std::string*) {
  const int column = column_++;
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return text ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

std::vector<double> Statement::read(std::vector<double>*) {
  const int column = column_++;
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  if (size % sizeof(double) != 0) corrupt("a list of doubles");
  std::vector<double> values(size / sizeof(double));
  if (size > 0) std::memcpy(values.data(), bytes, size);
  return values;
}

void Statement::corrupt(std::string_view wanted) const {
  throw Error(connection_.path + ": column " + std::to_string(column_) + " of '" +
              sqlite3_sql(statement_) + "' holds no " + std::string(wanted) + "; restore a backup");
}

}  // namespace nightjar::storage
