// What is wrong with a JSON text, in plain words. Brings json.hpp along, so only .cpp files include it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nightjar {

// "the field 'x' is missing", "it is not JSON (...)": the library's sentence without its own number of the error.
inline std::string problem_of(const nlohmann::json::exception& error) {
  std::string text = error.what();
  if (text.starts_with('[')) text.erase(0, text.find("] ") == std::string::npos ? 0 : text.find("] ") + 2);
  constexpr const char* kKey = "key ";
  constexpr const char* kNotFound = " not found";
  if (text.starts_with(kKey) && text.ends_with(kNotFound))
    return "the field " + text.substr(4, text.size() - 4 - std::string(kNotFound).size()) + " is missing";
  if (!dynamic_cast<const nlohmann::json::parse_error*>(&error)) return text;
  return "it is not JSON (" + text.substr(0, text.find(':')) + ")";  // the place; what follows quotes the parser
}

}  // namespace nightjar
