// `nightjar detect`: the change points of a series in a CSV file.
#pragma once

#include <filesystem>

#include "bisect/change_points.hpp"

namespace nightjar::cli {

struct DetectOptions {
  std::filesystem::path file;
  bisect::DetectionPolicy policy;
  bool fail_on_worse = false;
  bool json = false;
};

// Prints the changes, and the places in which none could have been seen. Returns 1 if one of them
// is worse and `fail_on_worse`. Throws BadInput.
int detect(const DetectOptions& options);

}  // namespace nightjar::cli
