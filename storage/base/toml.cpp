#include "storage/base/toml.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <toml++/toml.h>

#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/model/share.hpp"

namespace nightjar {

namespace {

constexpr std::size_t longest_key = 120, longest_toml_line = 2000;  // characters of an error
constexpr std::size_t most_told = 100;                              // errors of one file

// Each line of it made harmless. An error about another file has several.
std::string readable(std::string_view what) {
  std::string out;
  for (;;) {
    const auto end = std::min(what.find('\n'), what.size());
    out += shortened(what.substr(0, end), longest_toml_line);
    if (end == what.size()) return out;
    out += '\n';
    what.remove_prefix(end + 1);
  }
}

}  // namespace

// A file with what is wrong in it, by line; shared by all of its tables.
struct TomlSource {
  std::string name;
  toml::table root;
  std::vector<std::pair<unsigned, std::string>> problems;

  void add(const toml::source_region& where, std::string_view key, std::string_view what) {
    const unsigned line = where.begin.line;
    problems.emplace_back(line, name + (line > 0 ? ":" + std::to_string(line) : "") + ": " +
                                    (key.empty() ? "" : shortened(key, longest_key) + ": ") +
                                    readable(what));
  }
  // Throws if there are any.
  void raise() {
    if (problems.empty()) return;
    std::stable_sort(problems.begin(), problems.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string all;
    const auto told = std::min(problems.size(), most_told);
    for (std::size_t i = 0; i < told; ++i) all += (i > 0 ? "\n" : "") + problems[i].second;
    if (told < problems.size())
      all += "\n" + name + ": and " + std::to_string(problems.size() - told) + " more";
    throw std::invalid_argument(all);
  }
};

struct TomlTable::Impl {
  std::shared_ptr<TomlSource> source;
  const toml::table* table = nullptr;  // nullptr: not in the file
  std::string name{};                  // empty: the top level
  std::set<std::string, std::less<>> asked{}, wrong{};

  const toml::node* take(std::string_view key) {
    asked.emplace(key);
    return table ? table->get(key) : nullptr;
  }
  std::string dotted(std::string_view key) const {
    return name.empty() ? std::string(key) : name + "." + std::string(key);
  }
  TomlTable inner(const toml::node* node, std::string_view key) const {
    return TomlTable(
        std::make_shared<Impl>(Impl{source, node ? node->as_table() : nullptr, dotted(key)}));
  }
};

namespace {

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

// toml++ refuses deep lists by itself, but not deep tables by keys with dots. It deletes them by
// recursion.
class NestingScan {
 public:
  explicit NestingScan(std::string_view text) : text_(text) {}

  // The line where a key has too many parts, or brackets lie too deep; 0: none.
  unsigned too_deep() {
    int open = 0, dots = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#') at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      if (c == '"' || c == '\'') skip_string(c);
      if (c == '[' || c == '{') ++open;
      if (c == ']' || c == '}') --open;
      dots = c == '.' ? dots + 1 : ends_key.find(c) == ends_key.npos ? dots : 0;
      if (open > deepest || dots > deepest)
        return 1 + static_cast<unsigned>(
                       std::count(text_.begin(), text_.begin() + static_cast<long>(at_), '\n'));
    }
    return 0;
  }

 private:
  static constexpr int deepest = 64;
  static constexpr std::string_view ends_key = "=,[]{}\n#";

  // Leaves at_ at the string's last character.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_).starts_with(three);
    const std::string_view end =
        is_long ? std::string_view(three) : std::string_view(three).substr(2);
    for (at_ += end.size(); at_ < text_.size(); ++at_) {
      if (quote == '"' && text_[at_] == '\\')
        ++at_;
      else if (text_.substr(at_).starts_with(end) || (!is_long && text_[at_] == '\n'))
        break;
    }
    at_ += end.size() - 1;
    // A long string may end in two quotes of its own.
    for (int more = 0; is_long && more < 2 && at_ + 1 < text_.size() && text_[at_ + 1] == quote;
         ++more)
      ++at_;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

std::string text_in(const std::filesystem::path& file) {
  if (std::error_code error; std::filesystem::is_directory(file, error))
    throw std::invalid_argument(file.string() + ": it is a folder; name a file");
  if (auto text = read_file(file)) return *std::move(text);
  throw std::invalid_argument(file.string() + ": cannot be read: no such file, or not readable");
}

// Returns the value of a fraction or a whole number; nullopt for anything else.
std::optional<double> number_of(const toml::node& node) {
  if (const auto whole = node.value_exact<std::int64_t>()) return static_cast<double>(*whole);
  return node.value_exact<double>();
}

}  // namespace

std::optional<std::string> text_of(const TomlItem& item) {
  const auto* text = std::get_if<std::string>(&item);
  return text ? std::optional(*text) : std::nullopt;
}

bool TomlTable::has(std::string_view key) {
  return impl_->take(key) != nullptr;
}

bool TomlTable::is_wrong(std::string_view key) const {
  return impl_->wrong.contains(key);
}

void TomlTable::fail(std::string_view key, std::string_view what) {
  const toml::node* node = impl_->table ? impl_->table->get(key) : nullptr;
  if (!node && !impl_->name.empty()) node = impl_->table;
  impl_->wrong.emplace(key);
  impl_->source->add(node ? node->source() : toml::source_region{}, impl_->dotted(key), what);
}

void TomlTable::read(std::string_view key, std::string& value) {
  const toml::node* node = impl_->take(key);
  if (!node) return;
  const auto text = node->value_exact<std::string>();
  if (!text) return fail(key, "must be text in quotes");
  value = *text;
}

void TomlTable::read(std::string_view key, bool& value) {
  const toml::node* node = impl_->take(key);
  if (!node) return;
  const auto flag = node->value_exact<bool>();
  if (!flag) return fail(key, "must be true or false");
  value = *flag;
}

void TomlTable::read(std::string_view key, std::vector<std::string>& value) {
  constexpr std::string_view want =
      "must be a list of texts, as [\"a\", \"b\"], none of them empty";
  if (!has(key)) return;
  std::vector<std::string> texts;
  for (const TomlItem& item : items(key, want)) {
    const auto text = text_of(item);
    if (!text || text->empty()) return fail(key, want);
    texts.push_back(*text);
  }
  if (!is_wrong(key)) value = std::move(texts);
}

void TomlTable::read(std::string_view key, std::filesystem::path& value) {
  std::string text = value.string();
  read(key, text);
  value = text.empty() ? std::filesystem::path()
                       : (std::filesystem::absolute(impl_->source->name).parent_path() / text)
                             .lexically_normal();
}

void TomlTable::read(std::map<std::string, std::string>& values) {
  if (!impl_->table) return;
  for (const auto& [key, node] : *impl_->table) read(key.str(), values[std::string(key.str())]);
}

std::int64_t TomlTable::integer(std::string_view key, std::int64_t value, std::int64_t low,
                                std::int64_t high) {
  const toml::node* node = impl_->take(key);
  if (!node) return value;
  const auto number = node->value_exact<std::int64_t>();
  if (number && *number >= low && *number <= high) return *number;
  fail(key, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return value;
}

double TomlTable::number(std::string_view key, double value, double low, double high) {
  const toml::node* node = impl_->take(key);
  if (!node) return value;
  const auto number = number_of(*node);
  if (number && std::isfinite(*number) && *number >= low && *number <= high) return *number;
  fail(key, "must be a number from " + number_text(low) + " to " + number_text(high));
  return value;
}

double TomlTable::share(std::string_view key, double value, double low, double high) {
  const toml::node* node = impl_->take(key);
  if (!node) return value;
  const auto number = number_of(*node);
  if (number && *number >= 1) {  // a person who writes 7 means 7 %
    const std::string text = number_text(*number);
    fail(key, text + " is no share; did you mean \"" + text + "%\" or " +
                  number_text(*number / 100) + "?");
    return value;
  }
  try {
    const auto text = node->value_exact<std::string>();
    const double share = text ? parse_share(*text) : number.value_or(std::nan(""));
    if (share >= low && share <= high) return share;
    fail(key, "must be a share from " + number_text(low) + " to " + number_text(high) +
                  ", as 0.07 or \"7%\"");
  } catch (const std::invalid_argument& error) {
    fail(key, one_line(error.what()));
  }
  return value;
}

std::vector<TomlItem> TomlTable::items(std::string_view key, std::string_view want) {
  const toml::node* node = impl_->take(key);
  if (!node) return {};
  const toml::array* array = node->as_array();
  std::vector<TomlItem> items;
  for (std::size_t i = 0; array && i < array->size(); ++i) {
    const toml::node& item = *array->get(i);
    if (const auto whole = item.value_exact<std::int64_t>())
      items.emplace_back(*whole);
    else if (const auto text = item.value_exact<std::string>())
      items.emplace_back(*text);
    else if (item.is_table())
      items.emplace_back(impl_->inner(&item, key));
    else
      array = nullptr;
  }
  if (array) return items;
  fail(key, want);
  return {};
}

TomlTable TomlTable::table(std::string_view name) {
  const toml::node* node = impl_->take(name);
  if (node && !node->is_table()) fail(name, "must be a table, [" + impl_->dotted(name) + "]");
  return impl_->inner(node, name);
}

std::vector<TomlTable> TomlTable::tables(std::string_view name) {
  const std::string want = "must be a list of tables, each [[" + impl_->dotted(name) + "]]";
  std::vector<TomlTable> tables;
  for (TomlItem& item : items(name, want))
    if (auto* table = std::get_if<TomlTable>(&item))
      tables.push_back(std::move(*table));
    else if (!is_wrong(name))
      fail(name, want);
  return tables;
}

std::vector<TomlTable> TomlTable::table_or_tables(std::string_view name) {
  const toml::node* node = impl_->take(name);
  if (!node || !node->is_array()) return {table(name)};
  std::vector<TomlTable> found = tables(name);
  if (found.empty()) found.push_back(impl_->inner(nullptr, name));
  return found;
}

// The line of the key itself: a value would only give the line of its first character.
void TomlTable::done() const {
  if (!impl_->table) return;
  std::string known;
  for (const std::string& key : impl_->asked) known += (known.empty() ? "" : ", ") + key;
  for (const auto& [key, node] : *impl_->table)
    if (!impl_->asked.contains(key.str()))
      impl_->source->add(key.source(), impl_->dotted(key.str()), "unknown key; there are " + known);
}

TomlFile::TomlFile(const std::filesystem::path& file) : TomlFile(text_in(file), file.string()) {}

TomlFile::TomlFile(std::string_view text, std::string_view name) : TomlTable(nullptr) {
  auto source = std::make_shared<TomlSource>(TomlSource{std::string(name), {}, {}});
  if (const unsigned line = NestingScan(text).too_deep(); line > 0)
    throw std::invalid_argument(std::string(name) + ":" + std::to_string(line) +
                                ": it is nested deeper than 64 levels");
  try {
    source->root = toml::parse(text, name);
  } catch (const toml::parse_error& broken) {
    source->add(broken.source(), "", broken.description());
    source->raise();
  }
  impl_ = std::make_shared<Impl>(Impl{source, &source->root});
}

void TomlFile::finish() const {
  done();
  impl_->source->raise();
}

}  // namespace nightjar
