#include "harness/definition.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace nightjar::workloads {
namespace {

nlohmann::json table() {
  std::ifstream file(table_path);
  if (!file)
    throw std::runtime_error(std::string("cannot read ") + table_path +
                             "; compile this program again");
  return nlohmann::json::parse(file);
}

std::vector<std::string> split(const std::string& name) {
  std::vector<std::string> parts;
  std::istringstream stream(name);
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  return parts;
}

// Whether `text` is `start` and then a whole number above 0 of at most that many digits.
bool is_numbered(const std::string& text, const std::string& start, std::size_t most_digits) {
  if (!text.starts_with(start)) return false;
  const std::string digits = text.substr(start.size());
  return !digits.empty() && digits.size() <= most_digits && digits[0] != '0' &&
         digits.find_first_not_of("0123456789") == std::string::npos;
}

// Whether the last four of the seven parts are a known device, precision, batch size and backend.
bool is_variant(const std::vector<std::string>& parts) {
  const auto& device = parts[3];
  const std::set<std::string> precisions{"fp32", "tf32", "bf16", "fp16", "amp", "int8"};
  return (device == "cpu" || device == "cuda") && precisions.contains(parts[4]) &&
         is_numbered(parts[5], "b", 8) &&
         (parts[6] == "eager" || is_numbered(parts[6], "eager-t", 4));
}

}  // namespace

std::vector<std::string> native_names() {
  const nlohmann::json known = table();
  std::vector<std::string> names;
  for (const auto& item : known.at("items"))
    if (item.at("kind") == "native") names.push_back(item.at("name"));
  return names;
}

Definition find_definition(const std::string& name, std::int64_t version, bool tiny) {
  const UnknownWorkload unknown("no workload is called '" + name + "'");
  const auto parts = split(name);
  if (parts.size() != 7 || !is_variant(parts)) throw unknown;
  const nlohmann::json known = table();
  const nlohmann::json* base = nullptr;
  bool own_batch = false;
  for (const auto& item : known.at("items")) {
    const auto listed = split(item.at("name"));
    if (item.at("kind") != "native" ||
        !std::equal(listed.begin(), listed.begin() + 3, parts.begin()))
      continue;
    if (!base || listed[5] == parts[5]) base = &item;
    own_batch = own_batch || listed[5] == parts[5];
  }
  if (!base) throw unknown;
  if (base->at("version") != version)
    throw UnknownWorkload(name + " is at version " + base->at("version").dump() + " here, not " +
                          std::to_string(version));
  nlohmann::json sizes = known.at("sizes").at(parts[1] + "/" + parts[2]);
  if (tiny) sizes.update(known.at("tiny").at(parts[1]));
  return {parts[1], parts[2], parts[3], parts[4], std::stoll(parts[5].substr(1)), own_batch, sizes};
}

}  // namespace nightjar::workloads
