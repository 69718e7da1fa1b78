// Texts of digits in fixed places, such as a date. Used by the readers of times and versions.
#pragma once

#include <algorithm>
#include <string_view>

namespace nightjar {

// Whether a text is as long as `shape`, has digits where that has a 0, and else the same
// characters.
inline bool has_shape(std::string_view text, std::string_view shape) {
  const auto fits = [](char c, char wanted) {
    return wanted == '0' ? c >= '0' && c <= '9' : c == wanted;
  };
  return text.size() == shape.size() && std::equal(text.begin(), text.end(), shape.begin(), fits);
}

}  // namespace nightjar
