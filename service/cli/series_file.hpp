// A series of runs from a CSV file of a person's own. Used by `detect`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bisect/change_points.hpp"

namespace nightjar::cli {

struct Series {
  std::vector<bisect::Position> positions;  // numbered 0, 1, ... in order of time
  std::vector<std::string> names;           // of each position, as the file has it
  bool numbers = false;                     // every name is a number
};

// Rows `position,value`, several rows a position are its runs; "-" is standard input. The first
// line may be the header. Positions that are all numbers are sorted; others (commits, dates) stay
// in the order of the file. Throws BadInput that names file and line.
Series read_series(const std::filesystem::path& file);

}  // namespace nightjar::cli
