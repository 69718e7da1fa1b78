#include "service/config_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <toml++/toml.h>

#include "storage/model/share.hpp"

namespace nightjar::service {

// What is wrong with a file, by line; shared by its reader and all sections.
struct ConfigProblems {
  std::filesystem::path file;
  std::vector<std::pair<unsigned, std::string>> found;

  void add(const toml::source_region& where, std::string_view name, std::string_view what) {
    const unsigned line = where.begin.line;
    found.emplace_back(line, file.string() + (line > 0 ? ":" + std::to_string(line) : "") + ": " +
                                 (name.empty() ? "" : std::string(name) + ": ") +
                                 std::string(what));
  }
  // Throws if there are any.
  void raise() {
    if (found.empty()) return;
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string all;
    for (const auto& [line, text] : found) all += (all.empty() ? "" : "\n") + text;
    throw std::invalid_argument(all);
  }
};

struct ConfigSection::Impl {
  std::shared_ptr<toml::table> root;   // keeps `table` alive
  const toml::table* table = nullptr;  // nullptr: not in the file
  std::shared_ptr<ConfigProblems> problems;
  std::string name;
  std::set<std::string, std::less<>> asked, wrong;

  const toml::node* take(std::string_view key) {
    asked.emplace(key);
    return table ? table->get(key) : nullptr;
  }
};

struct ConfigReader::Impl {
  std::shared_ptr<ConfigProblems> problems;
  std::shared_ptr<toml::table> root;
  std::set<std::string, std::less<>> asked;

  ConfigSection section(const toml::table* table, std::string_view name) const {
    return ConfigSection(std::make_shared<ConfigSection::Impl>(
        ConfigSection::Impl{root, table, problems, std::string(name), {}, {}}));
  }
};

namespace {

std::string dotted(std::string_view table, std::string_view key) {
  return table.empty() ? std::string(key) : std::string(table) + "." + std::string(key);
}

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

// Of a fraction or a whole number, nothing else.
std::optional<double> number_of(const toml::node& node) {
  if (const auto whole = node.value_exact<std::int64_t>()) return static_cast<double>(*whole);
  return node.value_exact<double>();
}

// The line of `key` itself, where a value would only give the line of its first character.
template <class Asked>
void refuse_unknown(const toml::table& table, const Asked& asked, ConfigProblems& problems,
                    std::string_view name) {
  for (const auto& [key, node] : table)
    if (!asked.contains(key.str()))
      problems.add(key.source(), dotted(name, key.str()),
                   "unknown key; remove it or correct its name");
}

}  // namespace

bool ConfigSection::has(std::string_view key) const {
  return impl_->table && impl_->table->contains(key);
}

bool ConfigSection::is_wrong(std::string_view key) const {
  return impl_->wrong.contains(key);
}

void ConfigSection::fail(std::string_view key, std::string_view what) {
  const toml::node* node = impl_->table ? impl_->table->get(key) : nullptr;
  if (!node) node = impl_->table;
  impl_->wrong.emplace(key);
  impl_->problems->add(node ? node->source() : toml::source_region{}, dotted(impl_->name, key),
                       what);
}

void ConfigSection::read(std::string_view key, std::string& value) {
  const toml::node* node = impl_->take(key);
  if (!node) return;
  const auto text = node->value_exact<std::string>();
  if (!text) return fail(key, "must be text in quotes");
  value = *text;
}

void ConfigSection::read(std::string_view key, bool& value) {
  const toml::node* node = impl_->take(key);
  if (!node) return;
  const auto flag = node->value_exact<bool>();
  if (!flag) return fail(key, "must be true or false");
  value = *flag;
}

void ConfigSection::read(std::string_view key, std::vector<std::string>& value) {
  const toml::node* node = impl_->take(key);
  if (!node) return;
  const toml::array* array = node->as_array();
  if (!array) return fail(key, "must be a list of texts, as [\"a\", \"b\"]");
  std::vector<std::string> texts;
  for (const toml::node& item : *array) {
    const auto text = item.value_exact<std::string>();
    if (!text || text->empty()) return fail(key, "must be a list of texts, none of them empty");
    texts.push_back(*text);
  }
  value = std::move(texts);
}

void ConfigSection::read(std::string_view key, std::filesystem::path& value) {
  std::string text = value.string();
  read(key, text);
  value = text.empty() ? std::filesystem::path()
                       : (std::filesystem::absolute(impl_->problems->file).parent_path() / text)
                             .lexically_normal();
}

std::int64_t ConfigSection::integer(std::string_view key, std::int64_t value, std::int64_t low,
                                    std::int64_t high) {
  const toml::node* node = impl_->take(key);
  if (!node) return value;
  const auto number = node->value_exact<std::int64_t>();
  if (number && *number >= low && *number <= high) return *number;
  fail(key, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return value;
}

double ConfigSection::number(std::string_view key, double value, double low, double high) {
  const toml::node* node = impl_->take(key);
  if (!node) return value;
  const auto number = number_of(*node);
  if (number && std::isfinite(*number) && *number >= low && *number <= high) return *number;
  fail(key, "must be a number from " + number_text(low) + " to " + number_text(high));
  return value;
}

double ConfigSection::share(std::string_view key, double value, double low, double high) {
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
    fail(key, error.what());
  }
  return value;
}

ConfigSection ConfigSection::table(std::string_view name) {
  const toml::node* node = impl_->take(name);
  const std::string whole = dotted(impl_->name, name);
  if (node && !node->is_table())
    impl_->problems->add(node->source(), whole, "must be a table, [" + whole + "]");
  return ConfigSection(std::make_shared<Impl>(
      Impl{impl_->root, node ? node->as_table() : nullptr, impl_->problems, whole, {}, {}}));
}

void ConfigSection::done() const {
  if (impl_->table) refuse_unknown(*impl_->table, impl_->asked, *impl_->problems, impl_->name);
}

ConfigReader::ConfigReader(const std::filesystem::path& file) : impl_(std::make_shared<Impl>()) {
  impl_->problems = std::make_shared<ConfigProblems>();
  impl_->problems->file = file;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    impl_->problems->add({}, "", "cannot be read: no such file");
  impl_->problems->raise();
  try {
    impl_->root = std::make_shared<toml::table>(toml::parse_file(file.string()));
  } catch (const toml::parse_error& broken) {
    impl_->problems->add(broken.source(), "", broken.description());
    impl_->problems->raise();
  }
}

ConfigSection ConfigReader::table(std::string_view name) {
  impl_->asked.emplace(name);
  const toml::node* node = impl_->root->get(name);
  if (node && !node->is_table())
    impl_->problems->add(node->source(), name, "must be a table, [" + std::string(name) + "]");
  return impl_->section(node ? node->as_table() : nullptr, name);
}

std::vector<ConfigSection> ConfigReader::tables(std::string_view name) {
  impl_->asked.emplace(name);
  std::vector<ConfigSection> sections;
  const toml::node* node = impl_->root->get(name);
  if (!node) return sections;
  const toml::array* array = node->as_array();
  const std::string want = "must be a list of tables, each [[" + std::string(name) + "]]";
  if (!array) impl_->problems->add(node->source(), name, want);
  for (std::size_t i = 0; array && i < array->size(); ++i) {
    const toml::node& item = *array->get(i);
    if (item.is_table())
      sections.push_back(impl_->section(item.as_table(), name));
    else
      impl_->problems->add(item.source(), name, want);
  }
  return sections;
}

std::vector<ConfigSection> ConfigReader::table_or_tables(std::string_view name) {
  const toml::node* node = impl_->root->get(name);
  if (!node || !node->is_array()) return {table(name)};
  std::vector<ConfigSection> sections = tables(name);
  if (sections.empty()) sections.push_back(table(name));
  return sections;
}

void ConfigReader::done() const {
  refuse_unknown(*impl_->root, impl_->asked, *impl_->problems, "");
  impl_->problems->raise();
}

}  // namespace nightjar::service
