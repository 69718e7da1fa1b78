#include "storage/base/text_table.hpp"

#include <algorithm>

#include "storage/base/foreign_text.hpp"
#include "storage/base/markdown.hpp"

namespace nightjar {
namespace {

std::string padded_cell(const std::string& text, std::size_t width, bool left) {
  const std::string space(width - std::min(width, text_width(text)), ' ');
  return left ? text + space : space + text;
}

std::vector<std::size_t> widths_of(const TextTable& table, bool markdown) {
  std::vector<std::size_t> widths(table.head.size(), 0);
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], text_width(row[i]));
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (widths[i] > 0 || markdown || table.keep_empty)
      widths[i] = std::max(widths[i], text_width(table.head[i]));
  return widths;
}

// The table with nothing in its cells that a terminal or Markdown would obey.
TextTable harmless(TextTable table, bool markdown) {
  const auto mend = [markdown](std::vector<std::string>& cells) {
    for (std::string& cell : cells) cell = markdown ? plain(cell) : one_line(cell);
  };
  mend(table.head);
  for (auto& row : table.rows) mend(row);
  return table;
}

}  // namespace

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string table_text(const TextTable& with, bool markdown) {
  const TextTable table = harmless(with, markdown);
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

}  // namespace nightjar
