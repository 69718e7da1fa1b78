#include "definition.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace nightjar::workloads {
namespace {

nlohmann::json table() {
  std::ifstream file(NIGHTJAR_TABLE);
  if (!file) throw std::runtime_error("cannot read " NIGHTJAR_TABLE "; compile this program again");
  return nlohmann::json::parse(file);
}

std::vector<std::string> split(const std::string& name) {
  std::vector<std::string> parts;
  std::istringstream stream(name);
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  return parts;
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
  if (parts.size() != 7 || (parts[3] != "cpu" && parts[3] != "cuda")) throw unknown;
  const std::string listed = parts[0] + "/" + parts[1] + "/" + parts[2] + "/cpu/" + parts[4] + "/" +
                             parts[5] + "/" + parts[6];
  const nlohmann::json known = table();
  for (const auto& item : known.at("items")) {
    if (item.at("name") != listed || item.at("kind") != "native") continue;
    if (item.at("version") != version)
      throw UnknownWorkload(name + " is at version " + item.at("version").dump() + " here, not " +
                            std::to_string(version));
    nlohmann::json sizes = known.at("sizes").at(parts[1] + "/" + parts[2]);
    if (tiny) sizes.update(known.at("tiny").at(parts[1]));
    return {parts[1], parts[2], parts[3], std::stoll(parts[5].substr(1)), sizes};
  }
  throw unknown;
}

}  // namespace nightjar::workloads
