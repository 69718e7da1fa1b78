#include "storage/model/json_problem.hpp"

#include <string_view>

#include "storage/model/json.hpp"

namespace nightjar {

std::string problem_of(const std::exception& error) {
  constexpr std::string_view key = "key ", not_found = " not found";
  std::string text = error.what();
  if (const auto end = text.find("] "); text.starts_with('[') && end != std::string::npos)
    text.erase(0, end + 2);
  if (text.starts_with(key) && text.ends_with(not_found))
    return "the field " + text.substr(key.size(), text.size() - key.size() - not_found.size()) +
           " is missing";
  if (!dynamic_cast<const nlohmann::json::parse_error*>(&error)) return text;
  return "it is not JSON (" + text.substr(0, text.find(':')) +
         ")";  // the place; what follows quotes the parser
}

}  // namespace nightjar
