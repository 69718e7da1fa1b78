#include "runner/make/recipe.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fnmatch.h>
#include <toml++/toml.h>

#include "runner/process/failure.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
constexpr double kGigabyte = 1 << 30;

// One table of a recipe. Each key is taken once; what is left at the end is unknown.
class RecipeTable {
 public:
  RecipeTable(const toml::table* table, std::string prefix, const std::string& where)
      : table_(table), prefix_(std::move(prefix)), where_(where) {}

  [[noreturn]] void refuse(const std::string& key, const std::string& what,
                           const toml::node* node = nullptr) const {
    const auto line = node ? node->source().begin.line : 0;
    throw WrongUse("recipe " + where_ + (line ? ", line " + std::to_string(line) : "") + ": '" +
                   prefix_ + key + "' " + what);
  }

  void text(const std::string& key, std::string& to, bool required = false) {
    const toml::node* node = take(key);
    if (!node && required) refuse(key, "is missing; it must be a text");
    if (!node) return;
    if (!node->is_string() || (required && node->ref<std::string>().empty()))
      refuse(key, "must be a text", node);
    to = node->ref<std::string>();
  }

  void texts(const std::string& key, std::vector<std::string>& to, bool required = false) {
    const toml::node* node = take(key);
    if (!node && required) refuse(key, "is missing; it must be a list of texts");
    if (!node) return;
    const toml::array* list = node->as_array();
    if (!list || (!list->empty() && !list->is_homogeneous<std::string>()) ||
        (required && list->empty()))
      refuse(key, "must be a list of texts", node);
    for (const auto& item : *list) to.push_back(item.ref<std::string>());
  }

  void flag(const std::string& key, bool& to) {
    const toml::node* node = take(key);
    if (!node) return;
    if (!node->is_boolean()) refuse(key, "must be true or false", node);
    to = node->ref<bool>();
  }

  // A number from `least`, in the unit of its key.
  void number(const std::string& key, double& to, double least) {
    const toml::node* node = take(key);
    if (!node) return;
    const auto value = node->value<double>();
    if (!value || !std::isfinite(*value) || *value < least || *value > 1e6)
      refuse(key, "must be a number from " + std::string(least > 0 ? "0.01" : "0") + " to 1e6",
             node);
    to = *value;
  }

  void gigabytes(const std::string& key, std::int64_t& to) {
    double value = static_cast<double>(to) / kGigabyte;
    number(key, value, 0);
    to = static_cast<std::int64_t>(value * kGigabyte);
  }

  RecipeTable table(const std::string& key) {
    const toml::node* node = take(key);
    if (node && !node->is_table()) refuse(key, "must be a table", node);
    return {node ? node->as_table() : nullptr, prefix_ + key + ".", where_};
  }

  // All keys with their texts.
  void all_texts(std::map<std::string, std::string>& to) {
    if (!table_) return;
    for (const auto& [key, node] : *table_)
      text(std::string(key.str()), to[std::string(key.str())]);
  }

  void refuse_the_rest() const {
    if (!table_) return;
    for (const auto& [key, node] : *table_)
      if (std::find(taken_.begin(), taken_.end(), key.str()) == taken_.end()) {
        std::string known;
        for (const auto& one : taken_) known += (known.empty() ? "" : ", ") + one;
        refuse(std::string(key.str()), "is unknown; there are " + known, &node);
      }
  }

 private:
  const toml::node* take(const std::string& key) {
    taken_.push_back(key);
    return table_ ? table_->get(key) : nullptr;
  }

  const toml::table* table_;
  const std::string prefix_;
  const std::string& where_;
  std::vector<std::string> taken_;
};

toml::table parse_toml(std::string_view text, const std::string& where) {
  try {
    return toml::parse(text, where);
  } catch (const toml::parse_error& broken) {
    const auto line = broken.source().begin.line;
    throw WrongUse("recipe " + where + (line ? ", line " + std::to_string(line) : "") + ": " +
                   std::string(broken.description()));
  }
}

// A path below the checkout, since what is kept or discarded there is deleted at times.
bool is_inside(const std::string& path) {
  const fs::path parsed(path);
  return !path.empty() && parsed.is_relative() && *parsed.begin() != "." &&
         std::none_of(parsed.begin(), parsed.end(),
                      [](const auto& part) { return part == ".."; }) &&
         *parsed.begin() != ".git";
}

bool has_wildcard(const std::string& path) {
  return path.find_first_of("*?[]!\\") != std::string::npos;
}

bool is_pattern(const std::string& path) {
  return is_inside(path) && !has_wildcard(fs::path(path).parent_path().string());
}

void check_values(const Recipe& recipe, const RecipeTable& root, const RecipeTable& cache) {
  const auto named = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  };
  if (!std::all_of(recipe.name.begin(), recipe.name.end(), named))
    root.refuse("name", "may have letters, digits, - and _ only");
  if (!is_pattern(recipe.wheel) || !recipe.wheel.ends_with(".whl"))
    root.refuse("wheel",
                "must be a path below the checkout whose last part is a pattern of a .whl");
  for (const auto& folder : recipe.keep)
    if (!is_inside(folder) || has_wildcard(folder))
      root.refuse("keep", "must hold folders below the checkout, not '" + folder + "'");
  for (const auto& pattern : recipe.discard)
    if (!is_pattern(pattern))
      root.refuse("discard",
                  "must hold paths below the checkout whose last part may be a pattern, "
                  "not '" +
                      pattern + "'");
  const auto& program = recipe.cache.program;
  if (program != "auto" && program != "ccache" && program != "sccache" && program != "none")
    cache.refuse("program", "must be auto, ccache, sccache or none");
}

std::string with(std::string text, std::string_view placeholder, const std::string& value) {
  for (auto at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + value.size()))
    text.replace(at, placeholder.size(), value);
  return text;
}

}  // namespace

Recipe parse_recipe(std::string_view text, const std::string& where) {
  const toml::table parsed = parse_toml(text, where);
  Recipe recipe(digest_of(text));
  RecipeTable root(&parsed, "", where);
  root.text("name", recipe.name, true);
  root.texts("commands", recipe.commands, true);
  root.text("wheel", recipe.wheel, true);
  root.text("module", recipe.module, true);
  root.flag("submodules", recipe.submodules);
  root.texts("keep", recipe.keep);
  root.texts("discard", recipe.discard);
  root.text("image", recipe.image);
  root.table("tools").all_texts(recipe.tools);
  root.table("environment").all_texts(recipe.environment);
  RecipeTable limits = root.table("limits"), cache = root.table("cache");
  limits.number("minutes", recipe.limits.minutes, 0.01);
  limits.gigabytes("memory_gigabytes", recipe.limits.memory_bytes);
  limits.gigabytes("disk_gigabytes", recipe.limits.disk_bytes);
  limits.gigabytes("log_gigabytes", recipe.limits.log_bytes);
  cache.text("program", recipe.cache.program);
  cache.gigabytes("gigabytes", recipe.cache.bytes);
  for (const RecipeTable* table : {&root, &limits, &cache}) table->refuse_the_rest();
  check_values(recipe, root, cache);
  return recipe;
}

Recipe read_recipe(const fs::path& file) {
  const auto text = read_file(file);
  if (!text) throw WrongUse("cannot read the recipe " + file.string());
  return parse_recipe(*text, file.string());
}

std::map<std::string, std::string> environment_of(const Recipe& recipe, unsigned cores,
                                                  const std::string& python) {
  const std::string jobs = std::to_string(cores > 3 ? cores - 2 : 1);
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : recipe.environment)
    out[name] = with(with(with(value, "{jobs}", jobs), "{cores}", std::to_string(cores)),
                     "{python}", python);
  return out;
}

std::vector<fs::path> matching(const fs::path& tree, const std::string& pattern) {
  const fs::path relative(pattern);
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(tree / relative.parent_path(), error))
    if (::fnmatch(relative.filename().c_str(), entry.path().filename().c_str(), FNM_PERIOD) == 0)
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace nightjar::runner
