// Text from elsewhere made harmless in GitHub's Markdown. Used by the reports.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/foreign_text.hpp"

namespace nightjar {

// one_line(text) that shows as written: no markup, no HTML, no table border, and it neither
// mentions
// (@name), refers (#12, GH-12, an issue's URL) nor links. A zero-width space breaks what a
// backslash cannot: GitHub looks for mentions after it has resolved the backslashes.
std::string plain(std::string_view text);

// A code span that holds any text, also in a table's cell.
std::string code(std::string_view text);

// One word of a POSIX shell on one line, quoted where needed.
std::string shell_word(std::string_view text);

// Rows of cells that are Markdown already. Columns named with a leading '>' are set to the right.
std::string table(const std::vector<std::string>& columns,
                  const std::vector<std::vector<std::string>>& rows);

}  // namespace nightjar
