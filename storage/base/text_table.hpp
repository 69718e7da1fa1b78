// Rows of text as a table: for a terminal, or in Markdown. Used by the tables of both programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nightjar {

struct TextTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // each as long as the head
  std::size_t left = 0;     // number of columns aligned to the left; the others are to the right
  bool keep_empty = false;  // on a terminal, a column that is empty in all rows is left out
};

// How many columns of a terminal a text takes: a character of UTF-8, such as ±, counts once.
std::size_t text_width(const std::string& text);
// A line each, the head first. Cells are any text: they show as written, and neither a terminal nor
// Markdown obeys what they hold.
std::string table_text(const TextTable& with, bool markdown);

}  // namespace nightjar
