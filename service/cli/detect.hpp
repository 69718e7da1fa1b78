// `nightjar detect`: the change points of a series in a CSV file, or of each benchmark in the
// result files of benchmark programs.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "storage/model/metric.hpp"

namespace nightjar::cli {

struct DetectOptions {
  std::vector<std::filesystem::path> files;
  double threshold = .07;
  std::optional<Direction> direction;  // none: as the file says, or lower
  bool fail_on_worse = false;
  bool json = false;
  std::filesystem::path badge = {};  // file to write one to, see badge.hpp; empty: none
};

// Prints the changes, and the places in which none could have been seen. Returns 1 if one of them
// is worse and `fail_on_worse`. Throws BadInput.
int detect(const DetectOptions& options);

}  // namespace nightjar::cli
