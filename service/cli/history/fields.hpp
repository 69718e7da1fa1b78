// Fields of other people's JSON, which may be missing or of another type. Internal to the readers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nightjar::cli {

// The text of a field; of a number or another value as JSON writes it. Empty if it is missing or
// null.
std::string text_field(const nlohmann::json& object, const char* name);
// An empty object if it is missing or something else.
const nlohmann::json& object_field(const nlohmann::json& object, const char* name);

}  // namespace nightjar::cli
