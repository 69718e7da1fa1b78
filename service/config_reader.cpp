#include "service/config_reader.hpp"

#include <toml++/toml.h>

#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>

namespace nightjar::service {

struct ConfigSection::Impl {
  std::shared_ptr<toml::table> root;   // keeps `table` alive
  const toml::table* table = nullptr;  // nullptr: not in the file
  std::filesystem::path file;
  std::string name;
  std::set<std::string, std::less<>> asked;

  const toml::node* take(std::string_view key) {
    asked.emplace(key);
    return table ? table->get(key) : nullptr;
  }
};

struct ConfigReader::Impl {
  std::filesystem::path file;
  std::shared_ptr<toml::table> root;
  std::set<std::string, std::less<>> asked;
};

namespace {

[[noreturn]] void fail_at(const std::filesystem::path& file, const toml::source_region& where,
                          std::string_view name, std::string_view what) {
  std::string message = file.string();
  if (where.begin.line > 0) message += ":" + std::to_string(where.begin.line);
  throw std::invalid_argument(message + ": " + (name.empty() ? "" : std::string(name) + ": ") +
                              std::string(what));
}

std::string dotted(std::string_view table, std::string_view key) {
  return table.empty() ? std::string(key) : std::string(table) + "." + std::string(key);
}

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

// The line of `key` itself, where a value would only give the line of its first character.
template <class Asked>
void refuse_unknown(const toml::table& table, const Asked& asked, const std::filesystem::path& file,
                    std::string_view name) {
  for (const auto& [key, node] : table)
    if (!asked.contains(key.str()))
      fail_at(file, key.source(), dotted(name, key.str()),
              "unknown key; remove it or correct its name");
}

}  // namespace

bool ConfigSection::has(std::string_view key) const {
  return impl_->table && impl_->table->contains(key);
}

void ConfigSection::fail(std::string_view key, std::string_view what) const {
  const toml::node* node = impl_->table ? impl_->table->get(key) : nullptr;
  if (!node) node = impl_->table;
  fail_at(impl_->file, node ? node->source() : toml::source_region{}, dotted(impl_->name, key),
          what);
}

void ConfigSection::read(std::string_view key, std::string& value) {
  const toml::node* node = impl_->take(key);
  if (!node) return;
  const auto text = node->value_exact<std::string>();
  if (!text) fail(key, "must be text in quotes");
  value = *text;
}

void ConfigSection::read(std::string_view key, bool& value) {
  const toml::node* node = impl_->take(key);
  if (!node) return;
  const auto flag = node->value_exact<bool>();
  if (!flag) fail(key, "must be true or false");
  value = *flag;
}

void ConfigSection::read(std::string_view key, std::vector<std::string>& value) {
  const toml::node* node = impl_->take(key);
  if (!node) return;
  const toml::array* array = node->as_array();
  if (!array) fail(key, "must be a list of texts, as [\"a\", \"b\"]");
  value.clear();
  for (const toml::node& item : *array) {
    const auto text = item.value_exact<std::string>();
    if (!text || text->empty()) fail(key, "must be a list of texts, none of them empty");
    value.push_back(*text);
  }
}

void ConfigSection::read(std::string_view key, std::filesystem::path& value) {
  std::string text = value.string();
  read(key, text);
  value = text.empty()
              ? std::filesystem::path()
              : (std::filesystem::absolute(impl_->file).parent_path() / text).lexically_normal();
}

std::int64_t ConfigSection::integer(std::string_view key, std::int64_t value, std::int64_t low,
                                    std::int64_t high) {
  const toml::node* node = impl_->take(key);
  if (!node) return value;
  const auto number = node->value_exact<std::int64_t>();
  if (!number || *number < low || *number > high)
    fail(key, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return *number;
}

double ConfigSection::number(std::string_view key, double value, double low, double high) {
  const toml::node* node = impl_->take(key);
  if (!node) return value;
  std::optional<double> number = node->value_exact<double>();
  if (!number)
    if (const auto whole = node->value_exact<std::int64_t>()) number = static_cast<double>(*whole);
  if (!number || !std::isfinite(*number) || *number < low || *number > high)
    fail(key, "must be a number from " + number_text(low) + " to " + number_text(high));
  return *number;
}

double ConfigSection::share(std::string_view key, double value, double low, double high) {
  const toml::node* node = impl_->table ? impl_->table->get(key) : nullptr;
  if (!node || !node->is_string()) return number(key, value, low, high);
  impl_->take(key);
  const std::string text = *node->value_exact<std::string>();
  double percent = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, percent);
  if (parsed.ec != std::errc() || end - parsed.ptr != 1 || *parsed.ptr != '%' ||
      !(percent / 100 >= low && percent / 100 <= high))
    fail(key, "must be a share from " + number_text(low) + " to " + number_text(high) + ", as 0.07 or \"7%\"");
  return percent / 100;
}

void ConfigSection::done() const {
  if (impl_->table) refuse_unknown(*impl_->table, impl_->asked, impl_->file, impl_->name);
}

ConfigReader::ConfigReader(const std::filesystem::path& file)
    : impl_(std::make_shared<Impl>(Impl{file, nullptr, {}})) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    fail_at(file, {}, "", "cannot be read: no such file");
  try {
    impl_->root = std::make_shared<toml::table>(toml::parse_file(file.string()));
  } catch (const toml::parse_error& broken) {
    fail_at(file, broken.source(), "", broken.description());
  }
}

ConfigSection ConfigReader::table(std::string_view name) {
  impl_->asked.emplace(name);
  const toml::node* node = impl_->root->get(name);
  if (node && !node->is_table())
    fail_at(impl_->file, node->source(), name, "must be a table, [" + std::string(name) + "]");
  return ConfigSection(std::make_shared<ConfigSection::Impl>(ConfigSection::Impl{
      impl_->root, node ? node->as_table() : nullptr, impl_->file, std::string(name), {}}));
}

std::vector<ConfigSection> ConfigReader::tables(std::string_view name) {
  impl_->asked.emplace(name);
  std::vector<ConfigSection> sections;
  const toml::node* node = impl_->root->get(name);
  if (!node) return sections;
  const toml::array* array = node->as_array();
  const std::string want = "must be a list of tables, each [[" + std::string(name) + "]]";
  if (!array) fail_at(impl_->file, node->source(), name, want);
  for (const toml::node& item : *array) {
    if (!item.is_table()) fail_at(impl_->file, item.source(), name, want);
    sections.emplace_back(std::make_shared<ConfigSection::Impl>(
        ConfigSection::Impl{impl_->root, item.as_table(), impl_->file, std::string(name), {}}));
  }
  return sections;
}

void ConfigReader::done() const {
  refuse_unknown(*impl_->root, impl_->asked, impl_->file, "");
}

}  // namespace nightjar::service
