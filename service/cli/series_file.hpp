// A series of runs from a CSV file of a person's own. Used by `detect`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bisect/change_points.hpp"
#include "service/cli/series_order.hpp"

namespace nightjar::cli {

struct Series {
  std::vector<bisect::Position> positions;  // numbered 0, 1, ... in order of time
  std::vector<std::string> names;           // of each position, as the file has it
  PositionKind kind = PositionKind::as_listed;
  std::vector<int> unmeasured;  // lines without a value
};

// Rows of a position and a value as `series_rows` reads them, in the order of `position_order`.
// Several rows of a position are its runs; "-" is standard input. Throws BadInput that names file
// and line.
Series read_series(const std::filesystem::path& file);

}  // namespace nightjar::cli
