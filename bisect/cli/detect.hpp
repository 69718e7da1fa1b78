// `nightjar detect`: the change points of a series in a CSV file.
#pragma once

#include <filesystem>
#include <vector>

#include "bisect/detection.hpp"

namespace nightjar::cli {

struct DetectOptions {
  std::filesystem::path file;
  bisect::DetectionPolicy policy;
  bool json = false;
};

// Columns `position,value`, several rows a position are its runs; positions in any order. Throws
// BadInput that names file and line.
std::vector<bisect::Position> read_series(const std::filesystem::path& file);
// Prints the changes; returns the exit code.
int detect(const DetectOptions& options);

}  // namespace nightjar::cli
