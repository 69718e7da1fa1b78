// Rows of a series in the dialects of CSV that people have. Used by series_file.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nightjar::cli {

struct SeriesRow {
  int line = 0;
  std::string position;
  double value = 0;  // in the unit of the first value; positive
};

struct SeriesRows {
  std::vector<SeriesRow> rows;
  std::vector<int> unmeasured;  // lines whose value is empty, "nan", "NA" or the like
};

// Cells are separated by semicolons, tabs or commas, the same in all lines, and may be quoted. A
// first line that names `value` and a position may name further columns; otherwise there are two.
//
// Values may have a unit of time or of bytes, then all have one. A comma in a value is its decimal
// sign or separates thousands: the values together must show which. Where they do not, or say both,
// the line is refused. Throws BadInput that begins with `attempt` and names the line.
SeriesRows series_rows(std::string_view text, const std::string& attempt);

}  // namespace nightjar::cli
