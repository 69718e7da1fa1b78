// The series that `detect` judges: one of a CSV file, or one for each benchmark in several result
// files of a benchmark program.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "service/cli/series_file.hpp"

namespace nightjar::cli {

struct SeriesSet {
  std::vector<Series> series;                                 // by the names of benchmarks
  std::vector<std::pair<std::string, std::string>> left_out;  // a benchmark, and why
  bool are_results = false;                                   // and no CSV file
};

// One file that is no result file is read by parse_series(). Else each file is a position, where a
// benchmark has the median of its samples. A folder stands for the result files in it. Files of one
// commit are runs of its position; so are files of one folder that say neither commit nor date. If
// each file has a date, positions are in the order of dates; else in the order given.
//
// Throws BadInput that names a file without results.
SeriesSet read_series_set(const std::vector<std::filesystem::path>& files);

}  // namespace nightjar::cli
