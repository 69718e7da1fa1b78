#include "storage/base/foreign_text.hpp"

#include <algorithm>

namespace nightjar {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

// Length of the valid sequence that `text` starts with; 0 if it is broken (overlong, surrogate,
// cut).
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  const unsigned char second = at(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

// C0, DEL, C1, line and paragraph separators, and what marks or turns the direction of text.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  const auto second = static_cast<unsigned char>(sequence[1]);
  if (sequence.size() == 2)
    return (first == 0xC2 && second < 0xA0) || (first == 0xD8 && second == 0x9C);
  if (sequence.size() != 3 || first != 0xE2) return false;
  const auto third = static_cast<unsigned char>(sequence[2]);
  const bool is_mark = third == 0x8E || third == 0x8F;
  return (second == 0x80 && (is_mark || (third >= 0xA8 && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    valid += length > 0 ? text.substr(0, length) : replacement;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      line += replacement;
      text.remove_prefix(1);
      while (!text.empty() && is_continuation(text[0])) text.remove_prefix(1);
      continue;
    }
    const std::string_view sequence = text.substr(0, length);
    if (is_control(sequence)) {
      line += ' ';
    } else {
      line += sequence;
    }
    text.remove_prefix(length);
  }
  return line;
}

std::string shortened(std::string_view text, std::size_t characters) {
  const std::string line = one_line(text);
  std::size_t count = 0, cut = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (is_continuation(line[i])) continue;
    if (count + 1 == characters) cut = i;
    ++count;
  }
  return count <= characters ? line : line.substr(0, cut) + "…";
}

void LineSplitter::take(std::string_view text, const Hear& hear) {
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\r\n"), text.size());
    line_ += text.substr(0, std::min(end, longest_line - line_.size()));
    if (end == text.size()) return;
    finish(hear);
    text.remove_prefix(end + 1);
  }
}

void LineSplitter::finish(const Hear& hear) {
  if (!line_.empty()) hear(one_line(line_));
  line_.clear();
}

}  // namespace nightjar
