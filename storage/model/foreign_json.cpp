#include "storage/model/foreign_json.hpp"

#include "storage/model/json.hpp"

namespace nightjar {

bool is_nested_deeper(std::string_view text, int most) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (c == '\\' && quoted) ++i;
    if (quoted) continue;
    if ((c == '[' || c == '{') && ++depth > most) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

nlohmann::json parse_foreign(std::string_view text) {
  using nlohmann::json;
  return is_nested_deeper(text) ? json(json::value_t::discarded)
                                : json::parse(text, nullptr, false);
}

nlohmann::json parse_foreign_or_throw(std::string_view text) {
  using nlohmann::json;
  constexpr int other = 501;  // as the library numbers errors of users
  if (is_nested_deeper(text))
    throw json::other_error::create(
        other, "it is nested deeper than " + std::to_string(deepest_nesting) + " levels", nullptr);
  return json::parse(text);
}

}  // namespace nightjar
