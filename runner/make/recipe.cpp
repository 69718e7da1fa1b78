#include "runner/make/recipe.hpp"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>
#include <fnmatch.h>
#include <stdexcept>
#include <utility>

#include "runner/process/failure.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/toml.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
constexpr double gigabyte = 1 << 30;

void read_required(TomlTable& table, std::string_view key, auto& value) {
  table.read(key, value);
  if (value.empty() && !table.is_wrong(key)) table.fail(key, "is required");
}

void read_gigabytes(TomlTable& table, std::string_view key, std::int64_t& bytes) {
  const double usual = static_cast<double>(bytes) / gigabyte;
  bytes = clamped_integer<std::int64_t>(table.number(key, usual, 0, 1e6) * gigabyte);
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

void check_paths(TomlTable& toml, const Recipe& recipe) {
  if (!toml.is_wrong("wheel") && (!is_pattern(recipe.wheel) || !recipe.wheel.ends_with(".whl")))
    toml.fail("wheel", "must be a path below the checkout whose last part is a pattern of a .whl");
  for (const auto& folder : recipe.keep)
    if (!is_inside(folder) || has_wildcard(folder))
      toml.fail("keep", "must hold folders below the checkout, not " + in_quotes(folder));
  for (const auto& pattern : recipe.discard)
    if (!is_pattern(pattern))
      toml.fail("discard",
                "must hold paths below the checkout whose last part may be a pattern, not " +
                    in_quotes(pattern));
}

void read_limits(TomlTable table, Recipe::Limits& limits) {
  limits.minutes = table.number("minutes", limits.minutes, .01, 1e6);
  read_gigabytes(table, "memory_gigabytes", limits.memory_bytes);
  read_gigabytes(table, "disk_gigabytes", limits.disk_bytes);
  read_gigabytes(table, "log_gigabytes", limits.log_bytes);
  table.done();
}

void read_cache(TomlTable table, Recipe::Cache& cache) {
  table.read("program", cache.program);
  if (cache.program != "auto" && cache.program != "ccache" && cache.program != "sccache" &&
      cache.program != "none")
    table.fail("program", "must be auto, ccache, sccache or none");
  read_gigabytes(table, "gigabytes", cache.bytes);
  table.done();
}

void read_all(TomlFile& toml, Recipe& recipe) {
  read_required(toml, "name", recipe.name);
  const auto named = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  };
  if (!std::all_of(recipe.name.begin(), recipe.name.end(), named))
    toml.fail("name", "may have letters, digits, - and _ only");
  read_required(toml, "commands", recipe.commands);
  read_required(toml, "wheel", recipe.wheel);
  read_required(toml, "module", recipe.module);
  toml.read("submodules", recipe.submodules);
  toml.read("keep", recipe.keep);
  toml.read("discard", recipe.discard);
  toml.read("image", recipe.image);
  toml.table("tools").read(recipe.tools);
  toml.table("environment").read(recipe.environment);
  read_limits(toml.table("limits"), recipe.limits);
  read_cache(toml.table("cache"), recipe.cache);
  check_paths(toml, recipe);
  toml.finish();
}

}  // namespace

Recipe parse_recipe(std::string_view text, const std::string& where) {
  Recipe recipe(digest_of(text));
  try {
    TomlFile toml(text, where);
    read_all(toml, recipe);
  } catch (const std::invalid_argument& error) {
    throw WrongUse(error.what());
  }
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
  for (auto [name, value] : recipe.environment) {
    boost::replace_all(value, "{jobs}", jobs);
    boost::replace_all(value, "{cores}", std::to_string(cores));
    boost::replace_all(value, "{python}", python);
    out[name] = std::move(value);
  }
  return out;
}

std::vector<fs::path> matching(const fs::path& tree, const std::string& pattern) {
  const fs::path relative(pattern);
  std::vector<fs::path> found;
  std::error_code error;
  fs::path folder = tree;
  for (const fs::path& part : relative.parent_path())
    if (fs::is_symlink(fs::symlink_status(folder /= part, error))) return found;
  for (const auto& entry : fs::directory_iterator(tree / relative.parent_path(), error))
    if (::fnmatch(relative.filename().c_str(), entry.path().filename().c_str(), FNM_PERIOD) == 0)
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace nightjar::runner
