#include "service/cli/text_table.hpp"

#include <algorithm>

namespace nightjar::cli {
namespace {

// ASCII only: a byte is a column.
std::string padded_cell(const std::string& text, std::size_t width, bool left) {
  const std::string space(width - std::min(width, text.size()), ' ');
  return left ? text + space : space + text;
}

std::vector<std::size_t> widths_of(const TextTable& table, bool markdown) {
  std::vector<std::size_t> widths(table.head.size(), 0);
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (widths[i] > 0 || markdown) widths[i] = std::max(widths[i], table.head[i].size());
  return widths;
}

}  // namespace

std::string table_text(const TextTable& table, bool markdown) {
  const auto widths = widths_of(table, markdown);
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text = markdown ? "|" : "";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (widths[i] == 0) continue;
      if (markdown)
        text += " ";
      else if (!text.empty())
        text += "  ";
      text += padded_cell(cells[i], widths[i], i < table.left) + (markdown ? " |" : "");
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string out = line(table.head);
  if (markdown) {
    out += "|";
    for (std::size_t i = 0; i < widths.size(); ++i) out += i < table.left ? "---|" : "---:|";
    out += "\n";
  }
  for (const auto& row : table.rows) out += line(row);
  return out;
}

}  // namespace nightjar::cli
