// Rows of text as a table: for a terminal, or in Markdown. Used by `compare` and `summary`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nightjar::cli {

struct TextTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // each as long as the head
  std::size_t left = 0;  // so many columns are aligned to the left, the others to the right
};

// A line each, the head first. On a terminal, columns that are empty in all rows are left out.
std::string table_text(const TextTable& table, bool markdown);

}  // namespace nightjar::cli
