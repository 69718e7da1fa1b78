// JSON that others wrote. nlohmann's library reads any depth, but copies, compares and writes by
// recursion: deep nesting would end the process. Used wherever JSON comes from outside.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace nightjar {

inline constexpr int deepest_nesting = 64;  // of lists and objects
bool is_nested_deeper(std::string_view text, int most = deepest_nesting);

// A discarded value if `text` is no JSON, or is nested deeper than that.
nlohmann::json parse_foreign(std::string_view text);
// The same, but throws json::exception, which says what is wrong (problem_of in json_problem.hpp).
nlohmann::json parse_foreign_or_throw(std::string_view text);

}  // namespace nightjar
