// Reads one TOML file table by table: each key once, with its type and range checked, and what
// nobody asked for is an error. All errors are told together. Used by load_config() only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::service {

// One table of the file. A missing table reads like an empty one: every value keeps its default,
// and so does one that is wrong. Each error is kept as "FILE:LINE: TABLE.KEY: what is wrong and
// what would be right" until ConfigReader::done().
class ConfigSection {
 public:
  void read(std::string_view key, std::string& value);
  void read(std::string_view key, bool& value);
  void read(std::string_view key, std::vector<std::string>& value);
  // Relative to the file's folder; an empty one stays empty.
  void read(std::string_view key, std::filesystem::path& value);
  // A whole number from low to high.
  std::int64_t integer(std::string_view key, std::int64_t value, std::int64_t low,
                       std::int64_t high);
  // A number from low to high; `share` also takes "7%" for .07, and no number of 1 or more without
  // "%".
  double number(std::string_view key, double value, double low, double high);
  double share(std::string_view key, double value, double low, double high);

  // The table `name` inside this one, [outer.name].
  ConfigSection table(std::string_view name);

  // Every key of the table has been read; another one is an error.
  void done() const;
  // Keeps an error with file, line and key.
  void fail(std::string_view key, std::string_view what);
  bool is_wrong(std::string_view key) const;
  bool has(std::string_view key) const;

  struct Impl;
  explicit ConfigSection(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

class ConfigReader {
 public:
  // Throws std::invalid_argument if the file cannot be read or is no TOML.
  explicit ConfigReader(const std::filesystem::path& file);
  ConfigSection table(std::string_view name);                // [name]
  std::vector<ConfigSection> tables(std::string_view name);  // [[name]]
  // [name] or several [[name]]; at least one.
  std::vector<ConfigSection> table_or_tables(std::string_view name);
  // Throws std::invalid_argument with a line for each error of the file, in its order. A top-level
  // key that nobody asked for is one.
  void done() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace nightjar::service
