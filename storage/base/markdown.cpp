#include "storage/base/markdown.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace nightjar {
namespace {

constexpr std::string_view zero_width_space = "\xE2\x80\x8B";

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

}  // namespace nightjar
