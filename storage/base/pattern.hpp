// Regular expressions in RE2's grammar, for texts of any length and origin: RE2 takes linear time
// and never recurses. In return it has no look-aheads and no back references. RE2 stays in
// pattern.cpp, as no other unit has to read it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar {

// What matched, then each group in parentheses; empty where a group took no part.
using Groups = std::vector<std::string>;

// What one character of a text is. With utf8, a text that is not UTF-8 matches nothing.
enum class Characters { bytes, utf8 };

class Pattern {
 public:
  // Throws std::invalid_argument if `text` is no pattern. Nobody else writes patterns, so that is a
  // defect of the program.
  explicit Pattern(std::string_view text, Characters characters = Characters::bytes);
  std::optional<Groups> match(std::string_view text) const;   // all of it
  std::optional<Groups> search(std::string_view text) const;  // the first that there is in it

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace nightjar
