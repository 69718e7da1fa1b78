#include "service/cli/history/fields.hpp"

#include "storage/model/json.hpp"

namespace nightjar::cli {

std::string text_field(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

const nlohmann::json& object_field(const nlohmann::json& object, const char* name) {
  static const nlohmann::json none = nlohmann::json::object();
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : none;
}

}  // namespace nightjar::cli
