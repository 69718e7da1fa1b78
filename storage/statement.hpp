// One prepared SQL statement, taken from the connection's cache and given back when it goes out of
// scope. Private to this folder.
//
//   Statement find(db, "SELECT id, version FROM build WHERE commit_sha = ? AND kind = ?");
//   find.bind(commit, BuildKind::overlay);
//   while (find.step()) { const auto id = find.next<BuildId>(); ... find.next<std::string>(); }
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/connection.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar::storage {

class Statement {
 public:
  // Throws std::logic_error for SQL that writes.
  Statement(const Database& database, std::string_view sql);
  Statement(Transaction& transaction, std::string_view sql);
  // Only for the housekeeping of this folder; it may do anything.
  Statement(Database::Impl& connection, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Binds the next parameters, left to right. An Id of 0 and an empty optional are NULL. Text and
  // blobs are not copied: they must live until the statement has run.
  template <class... Values>
  Statement& bind(const Values&... values) {
    (bind_next(values), ...);
    return *this;
  }
  // True while there is a row; its columns are then read with next(), left to right.
  bool step();
  // Runs a statement that answers no rows, and makes it ready to be bound and run again.
  void run();
  // Makes it ready to be bound and run again, whatever rows are left.
  void reset();
  // Rows that the last INSERT, UPDATE or DELETE touched.
  int changes() const;
  std::int64_t inserted_id() const;

  // The next column of the row. NULL: 0 for an Id, nullopt for an optional, NaN for a double.
  template <class T>
  T next() {
    return read(static_cast<T*>(nullptr));
  }
  void skip(int columns) { column_ += columns; }

 private:
  void bind_integer(std::int64_t value);
  void bind_next(std::nullopt_t);
  void bind_next(double value);
  void bind_next(std::string_view text);
  void bind_next(const std::string& text) { bind_next(std::string_view(text)); }
  void bind_next(const char* text) { bind_next(std::string_view(text)); }
  void bind_next(std::span<const double> blob);
  void bind_next(const std::vector<double>& blob) { bind_next(std::span<const double>(blob)); }
  void bind_next(std::integral auto value) { bind_integer(static_cast<std::int64_t>(value)); }
  void bind_next(Time time) { bind_integer(to_us(time)); }
  template <class Tag>
  void bind_next(Id<Tag> id) {
    if (id)
      bind_integer(id.value);
    else
      bind_next(std::nullopt);
  }
  template <std::size_t digits>
  void bind_next(const Hex<digits>& hex) {
    bind_next(std::string_view(hex.str()));
  }
  template <class E>
    requires std::is_enum_v<E>
  void bind_next(E value) {
    bind_next(name_of(value));
  }
  template <class T>
  void bind_next(const std::optional<T>& value) {
    if (value)
      bind_next(*value);
    else
      bind_next(std::nullopt);
  }

  bool next_is_null() const;
  std::int64_t next_integer();
  double read(double*);
  std::string read(std::string*);
  std::vector<double> read(std::vector<double>*);
  Time read(Time*) { return from_us(next_integer()); }
  template <std::integral T>
  T read(T*) {
    return static_cast<T>(next_integer());
  }
  template <class Tag>
  Id<Tag> read(Id<Tag>*) {
    return {next_integer()};
  }
  template <std::size_t digits>
  Hex<digits> read(Hex<digits>*) {
    if (auto hex = Hex<digits>::parse(next<std::string>())) return *std::move(hex);
    corrupt("a hash");
  }
  template <class E>
    requires std::is_enum_v<E>
  E read(E*) {
    if (const auto value = enum_from<E>(next<std::string>())) return *value;
    corrupt(enum_type(E{}));
  }
  template <class T>
  std::optional<T> read(std::optional<T>*) {
    if (next_is_null()) {
      ++column_;
      return std::nullopt;
    }
    return next<T>();
  }
  [[noreturn]] void corrupt(std::string_view wanted) const;
  [[noreturn]] void fail() const;

  Database::Impl& connection_;
  std::vector<sqlite3_stmt*>& idle_;  // where it is given back
  sqlite3_stmt* statement_ = nullptr;
  int parameter_ = 0;
  int column_ = 0;
};

// Writes a value as text of a statement: 'screen'. If a bound value might decide whether a partial
// index serves, SQLite prepares the statement again at each run.
template <class E>
  requires std::is_enum_v<E>
std::string literal(E value) {
  return "'" + std::string(name_of(value)) + "'";
}

}  // namespace nightjar::storage
