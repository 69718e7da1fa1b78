// Reads and writes CSV text (RFC 4180). Used for a wheel's RECORD and for the result files of
// PyTorch's benchmarks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nightjar {

// Lines of cells; empty lines are left out. A quoted cell may hold commas, line ends, and quotes
// written twice. A quotation that is never closed ends with the text.
std::vector<std::vector<std::string>> csv_lines(std::string_view text);
// The text of one cell: in quotes if it holds a comma, a quote or a line end.
std::string csv_cell(const std::string& text);

}  // namespace nightjar
