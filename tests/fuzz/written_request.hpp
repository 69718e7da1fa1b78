// Writes what was read of a request, every character escaped that may be. Used by the targets that
// read it again.
#pragma once

#include <string>
#include <string_view>

#include "web/text.hpp"

namespace nightjar::fuzz {

inline std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += digits[byte >> 4];
    encoded += digits[byte & 15];
  }
  return encoded;
}

inline std::string written_target(const web::Target& target) {
  std::string text;
  for (const auto& segment : target.segments) text += "/" + percent_encode(segment);
  char separator = '?';
  for (const auto& [name, value] : target.query) {
    text += separator + percent_encode(name) + "=" + percent_encode(value);
    separator = '&';
  }
  return text;
}

}  // namespace nightjar::fuzz
