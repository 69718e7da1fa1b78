#include "storage/base/csv.hpp"

namespace nightjar {

void csv_lines(std::string_view text, std::size_t most_cells,
               const std::function<void(const CsvLine&)>& take) {
  CsvLine line{""};
  bool quoted = false;
  const auto end_line = [&] {
    if (line.size() > 1 || !line[0].empty()) take(line);
    line.assign(1, "");
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = line.back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      cell += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      cell += c;
    else if (c == ',' && line.size() <= most_cells)
      line.emplace_back();
    else if (c == '\n')
      end_line();
    else if (c != '\r')
      cell += c;
  }
  end_line();
}

std::vector<CsvLine> csv_lines(std::string_view text) {
  constexpr std::size_t most_cells = 10'000;
  std::vector<CsvLine> lines;
  csv_lines(text, most_cells, [&](const CsvLine& line) { lines.push_back(line); });
  return lines;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace nightjar
