#include "storage/text_map.hpp"

#include "storage/model/json.hpp"

namespace nightjar::storage {
namespace {

using nlohmann::json;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string to_text(const TextMap& map) {
  return dump(json(map));
}
std::string to_text(const std::vector<std::string>& list) {
  return dump(json(list));
}
TextMap map_from_text(const std::string& text) {
  return json::parse(text).get<TextMap>();
}
std::vector<std::string> list_from_text(const std::string& text) {
  return json::parse(text).get<std::vector<std::string>>();
}

}  // namespace nightjar::storage
