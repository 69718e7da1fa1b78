// Reads and writes CSV text (RFC 4180). Used for a wheel's RECORD and for the result files of
// PyTorch's benchmarks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar {

using CsvLine = std::vector<std::string>;

// Lines of cells; empty lines are left out. A quoted cell may hold commas, line ends, and quotes
// written twice. A quotation that is never closed ends with the text.
std::vector<CsvLine> csv_lines(std::string_view text);
// Gives them one by one, since of short cells all would take a hundred times the text's memory. A
// line with more than `most_cells` has one more, which is the rest of it.
void csv_lines(std::string_view text, std::size_t most_cells,
               const std::function<void(const CsvLine&)>& take);
// The text of one cell: in quotes if it holds a comma, a quote or a line end.
std::string csv_cell(const std::string& text);

}  // namespace nightjar
