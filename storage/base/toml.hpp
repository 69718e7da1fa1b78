// Reads a TOML file table by table: each key once, with its type and range checked, and what
// nobody asked for is an error. All errors are told together, one a line, as "FILE:LINE: TABLE.KEY:
// what is wrong and what would be right".
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace nightjar {

class TomlTable;
// What a list may hold.
using TomlItem = std::variant<std::int64_t, std::string, TomlTable>;
// nullopt if the item is no text.
std::optional<std::string> text_of(const TomlItem& item);

// One table of a file. A missing table reads like an empty one: every value keeps its default. A
// wrong value keeps its default, too. Errors are kept until TomlFile::finish().
class TomlTable {
 public:
  void read(std::string_view key, std::string& value);
  void read(std::string_view key, bool& value);
  void read(std::string_view key, std::vector<std::string>& value);
  // Relative to the file's folder; an empty one stays empty.
  void read(std::string_view key, std::filesystem::path& value);
  // All keys of the table, each with a text.
  void read(std::map<std::string, std::string>& values);
  // A whole number from low to high.
  std::int64_t integer(std::string_view key, std::int64_t value, std::int64_t low,
                       std::int64_t high);
  // A number from low to high; `share` also takes "7%" for .07, and no number of 1 or more without
  // "%".
  double number(std::string_view key, double value, double low, double high);
  double share(std::string_view key, double value, double low, double high);
  // What `parse` makes of each item of a list. It takes a TomlItem& and returns an optional, which
  // is empty if the item is wrong. If an item is wrong, or the list is empty, the error is `want`.
  template <class Parse>
  auto list(std::string_view key, std::string_view want, Parse parse) {
    std::vector<typename std::invoke_result_t<Parse, TomlItem&>::value_type> out;
    std::vector<TomlItem> all = items(key, want);
    for (TomlItem& item : all)
      if (auto parsed = parse(item)) out.push_back(*std::move(parsed));
    if (has(key) && !is_wrong(key) && (out.empty() || out.size() < all.size())) fail(key, want);
    return out;
  }

  // The table `name` inside this one, [outer.name]; at the top level [name].
  TomlTable table(std::string_view name);
  std::vector<TomlTable> tables(std::string_view name);  // [[name]]
  // [name] or several [[name]]; at least one.
  std::vector<TomlTable> table_or_tables(std::string_view name);

  // Every key of the table has been asked for; another one is an error.
  void done() const;
  // Keeps an error with file, line and key.
  void fail(std::string_view key, std::string_view what);
  bool is_wrong(std::string_view key) const;
  // Whether the file sets it. Counts as asked for.
  bool has(std::string_view key);

  struct Impl;
  explicit TomlTable(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 protected:
  std::shared_ptr<Impl> impl_;

 private:
  std::vector<TomlItem> items(std::string_view key, std::string_view want);
};

// A file, which is the table of its top level.
class TomlFile : public TomlTable {
 public:
  // Both throw std::invalid_argument if there is no such file, or if it is no TOML.
  explicit TomlFile(const std::filesystem::path& file);
  TomlFile(std::string_view text, std::string_view name);
  // done(). Throws std::invalid_argument with a line for each error of the file, in its order.
  void finish() const;
};

}  // namespace nightjar
