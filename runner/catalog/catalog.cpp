#include "runner/catalog/catalog.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "runner/catalog/source_tree.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/files.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

// Complaints lack the file's name, which the caller knows.
const Json& list_of_items(const Json& root) {
  if (!root.is_object() || !root.contains("items") || !root["items"].is_array())
    throw WrongUse("key \"items\" is missing or no list; it needs an item for each workload");
  return root["items"];
}

// What the name lacks, in words.
std::string name_problem(const std::string& name) {
  constexpr std::array<const char*, 7> part_names = {"suite",     "model", "task",   "device",
                                                     "precision", "bN",    "backend"};
  const auto parts = static_cast<std::size_t>(std::count(name.begin(), name.end(), '/')) + 1;
  return (parts < part_names.size() ? std::string(part_names[parts]) + " is missing in its name"
                                    : "that is no name") +
         "; it needs suite/model/task/device/precision/bN/backend";
}

CatalogEntry checked_item(const Json& item, std::size_t number) {
  std::string where = "item " + std::to_string(number);
  if (!item.is_object()) throw WrongUse(where + " is no object; it needs name, version and kind");
  if (item.contains("name") && item["name"].is_string()) where = item["name"].get<std::string>();
  const auto require = [&](const char* key, bool right, const char* what) {
    if (!item.contains(key))
      throw WrongUse(where + ": key \"" + key + "\" is missing; it needs " + what);
    if (!right)
      throw WrongUse(where + ": \"" + key + "\" is " + item[key].dump() + "; it needs " + what);
  };
  const auto value = [&](const char* key) { return item.value(key, Json()); };
  require("name", value("name").is_string(), "suite/model/task/device/precision/bN/backend");
  const auto name = WorkloadName::parse(where);
  if (!name) throw WrongUse(where + ": " + name_problem(where));
  const Json version = value("version"), kind = value("kind");
  require("version",
          version.is_number_integer() && version > 0 && version <= std::numeric_limits<int>::max(),
          "a whole number from 1");
  require("kind", kind == "python" || kind == "native", "\"python\" or \"native\"");
  return {*name, parse_json(version, Parsed<int>{}),
          require_enum<WorkloadKind>(kind.get<std::string>())};
}

bool are_sizes(const Json& sizes) {
  return sizes.is_object() && std::all_of(sizes.begin(), sizes.end(), [](const Json& size) {
           return size.is_number_integer();
         });
}

// What the workload's program will look up once it runs.
void check_sizes(const Json& root, const CatalogEntry& entry) {
  const std::string suite(entry.name.suite()), model(entry.name.model());
  if (suite != "python" && suite != "native")
    return;  // other people's models have sizes of their own
  const std::string key = model + "/" + std::string(entry.name.task());
  const Json sizes = root.value("sizes", Json::object()), tiny = root.value("tiny", Json::object());
  if (!sizes.is_object() || !sizes.contains(key))
    throw WrongUse(entry.name.str() + ": key \"" + key +
                   "\" is missing in \"sizes\"; it needs the model's sizes "
                   "by name, or {} if it has none");
  if (!are_sizes(sizes[key]))
    throw WrongUse("sizes, key \"" + key +
                   "\": sizes are whole numbers by name, as {\"width\": 32}");
  if (!tiny.is_object() || !are_sizes(tiny.value(model, Json::object())))
    throw WrongUse("tiny, key \"" + model +
                   "\": sizes are whole numbers by name, as {\"width\": 8}");
}

}  // namespace

std::vector<CatalogEntry> read_catalog(const fs::path& workloads) {
  const fs::path path = workloads / "workloads.json";
  const auto text = read_file(path);
  if (!text) throw WrongUse("cannot read " + path.string() + "; --workloads names its folder");
  try {
    const Json root = parse_foreign_or_throw(*text);
    std::vector<CatalogEntry> catalog;
    for (const Json& item : list_of_items(root)) {
      const CatalogEntry entry = checked_item(item, catalog.size() + 1);
      for (const CatalogEntry& other : catalog)
        if (other.name == entry.name) throw WrongUse(entry.name.str() + " is there twice");
      check_sizes(root, entry);
      catalog.push_back(entry);
    }
    return catalog;
  } catch (const Json::exception& error) {
    const std::string what = error.what();
    throw WrongUse(path.string() +
                   ": no JSON: " + what.substr(std::min(what.find("] ") + 2, what.size())));
  } catch (const WrongUse& error) {
    throw WrongUse(path.string() + ": " + error.what());
  }
}

fs::path default_workloads(const fs::path& asked) {
  if (!asked.empty()) return asked;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path installed = program.parent_path().parent_path() / "share/nightjar/workloads";
  if (!error && fs::exists(installed / "workloads.json", error)) return installed;
  return source_tree() / "runner/workloads";
}

bool is_native(const WorkloadName& name) {
  return name.suite() == "native";
}

bool is_ours(std::string_view suite) {
  constexpr std::string_view ours[] = {"native", "python", "torchbench",
                                       "hf",     "timm",   "torchvision"};
  return std::find(std::begin(ours), std::end(ours), suite) != std::end(ours);
}

std::vector<CatalogEntry> select(const std::vector<CatalogEntry>& catalog,
                                 const std::vector<std::string>& globs) {
  std::vector<CatalogEntry> out;
  for (const auto& entry : catalog)
    if (std::any_of(globs.begin(), globs.end(),
                    [&](const auto& glob) { return glob_match(glob, entry.name.str()); }))
      out.push_back(entry);
  return out;
}

}  // namespace nightjar::runner
