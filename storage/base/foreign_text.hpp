// Text that others wrote, made fit to be shown, logged and stored: what a remote, a build or a
// commit says. Used wherever a program's output or a commit's text comes in.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace nightjar {

// `text` with each byte that is no UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

// valid_utf8(text) with a space for each control character, bidi overrides included, that is
// neither a line end nor a tab.
std::string without_controls(std::string_view text);

// Any bytes as valid UTF-8 on one line: broken sequences become U+FFFD, control characters (bidi
// overrides included) and line ends a space. Characters that nobody sees are left out, and so are
// secrets of this process (redaction.hpp).
std::string one_line(std::string_view text);

// At most `characters` code points of one_line(text), the last one an ellipsis if some were cut.
std::string shortened(std::string_view text, std::size_t characters);

// shortened(text, 80) in quotes: how an error repeats a value that is wrong.
std::string in_quotes(std::string_view text);

// The text with those of the characters & < > " that `characters` has as entities of XML and HTML.
std::string with_entities(std::string_view text, std::string_view characters = "&<>\"");

// Makes lines of a program's output as it comes in, each as one_line() has it. Keeps only the first
// `longest_line` bytes of a longer line, so its memory does not grow. A lone carriage return ends a
// line, too.
class LineSplitter {
 public:
  using Hear = std::function<void(std::string_view)>;
  static constexpr std::size_t longest_line = 2000;  // bytes

  // Calls `hear` for each line that `text` ends, unless it is empty.
  void take(std::string_view text, const Hear& hear);
  // The last line, which nothing ended.
  void finish(const Hear& hear);

 private:
  std::string line_;
};

}  // namespace nightjar
