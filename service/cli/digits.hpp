// Characters of numbers, for what is read without regular expressions.
#pragma once

namespace nightjar::cli {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace nightjar::cli
