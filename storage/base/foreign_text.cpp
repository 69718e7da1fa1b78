#include "storage/base/foreign_text.hpp"

#include <algorithm>
#include <array>

#include "storage/base/redaction.hpp"

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

// Decodes a valid sequence.
char32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  char32_t point = sequence.size() == 1 ? lead : lead & (0x7Fu >> sequence.size());
  for (const char c : sequence.substr(1))
    point = point << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return point;
}

// C0, DEL, C1, line and paragraph separators, and what turns the direction of text.
bool is_control(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

struct PointRange {
  char32_t first, last;
};

// What shows as nothing or as a blank, or means nothing outside one program, and so can hide words
// from people that programs read: Default_Ignorable_Code_Point of DerivedCoreProperties.txt in
// Unicode 16.0, blank symbols, notes between lines, and private use and noncharacters. The last two
// of each plane are noncharacters, too. The joiners 200C and 200D are not among them.
constexpr std::array<PointRange, 23> invisible{
    {{0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},     {0x115F, 0x1160},
     {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200B},   {0x200E, 0x200F},
     {0x2060, 0x206F},   {0x2800, 0x2800},   {0x3164, 0x3164},   {0xE000, 0xF8FF},
     {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
     {0xFFF0, 0xFFFB},   {0x13441, 0x13442}, {0x16FE4, 0x16FE4}, {0x1BCA0, 0x1BCA3},
     {0x1D159, 0x1D159}, {0x1D173, 0x1D17A}, {0xE0000, 0x10FFFF}}};

bool is_invisible(char32_t point) {
  if (point < invisible[0].first) return false;
  return (point & 0xFFFE) == 0xFFFE ||
         std::any_of(invisible.begin(), invisible.end(), [&](const PointRange& range) {
           return point >= range.first && point <= range.last;
         });
}

// Persian and emoji join or part their characters with these.
bool is_joiner(char32_t point) {
  return point == 0x200C || point == 0x200D;
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

std::string without_controls(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    const bool is_kept = text[0] == '\n' || text[0] == '\t';
    out += length == 0                                    ? replacement
           : !is_kept && is_control(code_point(sequence)) ? std::string_view(" ")
                                                          : sequence;
    text.remove_prefix(sequence.size());
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string line;
  char32_t last = 0;  // that is in the line
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      line += replacement;
      last = 0;
      text.remove_prefix(1);
      while (!text.empty() && is_continuation(text[0])) text.remove_prefix(1);
      continue;
    }
    const std::string_view sequence = text.substr(0, length);
    const char32_t point = code_point(sequence);
    text.remove_prefix(length);
    if (is_invisible(point) || (is_joiner(point) && (last < 0x80 || is_joiner(last)))) continue;
    last = is_control(point) ? ' ' : point;
    line += is_control(point) ? std::string_view(" ") : sequence;
  }
  return without_secrets(std::move(line));
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

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most_characters = 80;
  return "'" + shortened(text, most_characters) + "'";
}

std::string with_entities(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) == characters.npos)
      out += c;
    else
      out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&quot;";
  }
  return out;
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
