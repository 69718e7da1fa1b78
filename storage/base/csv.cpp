#include "storage/base/csv.hpp"

namespace nightjar {

std::vector<std::vector<std::string>> csv_lines(std::string_view text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = lines.back().back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      cell += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      cell += c;
    else if (c == ',')
      lines.back().emplace_back();
    else if (c == '\n')
      lines.push_back({""});
    else if (c != '\r')
      cell += c;
  }
  std::erase_if(lines, [](const auto& cells) { return cells.size() == 1 && cells[0].empty(); });
  return lines;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace nightjar
