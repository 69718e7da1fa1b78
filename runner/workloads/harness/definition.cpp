#include "harness/definition.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
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

// Whether the last four of the seven parts are a known device, precision, batch size and backend.
bool is_variant(const std::vector<std::string>& parts) {
  static const std::regex batch("b[1-9][0-9]{0,7}"), backend("eager(-t[1-9][0-9]{0,3})?");
  const auto& device = parts[3];
  const auto& precision = parts[4];
  return (device == "cpu" || device == "cuda") &&
         (precision == "fp32" || precision == "bf16" || precision == "amp") &&
         std::regex_match(parts[5], batch) && std::regex_match(parts[6], backend);
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
