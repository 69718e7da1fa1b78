#include "service/report/markdown.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace nightjar::service {
namespace {

constexpr std::string_view zero_width_space = "\xE2\x80\x8B";
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

// C0, DEL, C1, line and paragraph separators, and what turns the direction of text.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  if (sequence.size() == 2) return first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
  if (sequence.size() != 3 || first != 0xE2) return false;
  const auto second = static_cast<unsigned char>(sequence[1]);
  const auto third = static_cast<unsigned char>(sequence[2]);
  return (second == 0x80 && third >= 0xA8 && third <= 0xAE) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

bool is_alphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool ends_with_ignoring_case(std::string_view text, std::string_view lower_case_end) {
  if (text.size() < lower_case_end.size()) return false;
  return std::equal(lower_case_end.rbegin(), lower_case_end.rend(), text.rbegin(),
                    [](char a, char b) {
                      return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
                    });
}

}  // namespace

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

std::string plain(std::string_view text) {
  const std::string line = one_line(text);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const char next = i + 1 < line.size() ? line[i + 1] : ' ';
    const std::string_view before = std::string_view(line).substr(0, i);
    if (std::string_view("\\`*_[]<>|~$&").find(c) != std::string_view::npos) out += '\\';
    out += c;
    const bool number = c == '#' && std::isdigit(static_cast<unsigned char>(next)) != 0;
    const bool gh = c == '-' && ends_with_ignoring_case(before, "gh");
    const bool www = c == '.' && ends_with_ignoring_case(before, "www");
    const bool link = c == ':' && next == '/';
    const bool mention = c == '@' && is_alphanumeric(next);
    if (number || gh || www || link || mention) out += zero_width_space;
  }
  return out;
}

std::string code(std::string_view text) {
  std::string line = one_line(text);
  std::size_t longest = 0, here = 0;
  for (const char c : line) {
    here = c == '`' ? here + 1 : 0;
    longest = std::max(longest, here);
  }
  const bool pad = line.empty() || line.front() == '`' || line.back() == '`';
  std::string out(longest + 1, '`');
  const std::string fence = out;
  if (pad) out += ' ';
  for (const char c : line) {
    if (c == '|') out += '\\';  // tables are split before code spans are read
    out += c;
  }
  if (pad) out += ' ';
  return out + fence;
}

std::string shell_word(std::string_view text) {
  std::string line = one_line(text);
  const bool safe = !line.empty() && std::all_of(line.begin(), line.end(), [](char c) {
    return is_alphanumeric(c) || std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  });
  if (safe) return line;
  std::string out = "'";
  for (const char c : line) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string table(const std::vector<std::string>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string head = "|", rule = "|", body;
  for (const std::string& column : columns) {
    const bool right = column.starts_with('>');
    head += " " + column.substr(right ? 1 : 0) + " |";
    rule += right ? "---:|" : "---|";
  }
  for (const auto& row : rows) {
    body += "|";
    for (const std::string& cell : row) body += " " + cell + " |";
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

}  // namespace nightjar::service
