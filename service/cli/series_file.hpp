// A series of runs from a CSV file of a person's own. Used by result_series.hpp.
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
  std::vector<int> unmeasured;  // lines without a value, or numbers of files
  // What a result file says of its benchmark; a CSV file says nothing.
  std::string benchmark = {}, unit = {};
  Direction direction = Direction::lower_is_better;
};

// Rows of a position and a value as `series_rows` reads them, in the order of `position_order`.
// Several rows of a position are its runs. Throws BadInput that names file and line.
Series parse_series(const std::string& text, const std::filesystem::path& file);

}  // namespace nightjar::cli
