// Regular expressions in ECMAScript's grammar, for short texts: std::regex recurses once a
// character. <regex> stays in pattern.cpp, since a unit that uses it takes 6 s more to compile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nightjar {

// What matched, then each group in parentheses; empty where a group took no part.
using Groups = std::vector<std::string>;

class Pattern {
 public:
  // Throws std::regex_error.
  explicit Pattern(const std::string& text);
  std::optional<Groups> match(const std::string& text) const;   // all of it
  std::optional<Groups> search(const std::string& text) const;  // the first that there is in it
  // In `by`, $1 is the first group.
  std::string replace_all(const std::string& text, const std::string& by) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace nightjar
