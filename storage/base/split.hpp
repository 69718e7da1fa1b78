// A text's parts between separators. Used for lists in headers and queries, and for names of
// wheels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nightjar {

// At least one part; parts may be empty.
std::vector<std::string> split_at(std::string_view text, char separator);

}  // namespace nightjar
