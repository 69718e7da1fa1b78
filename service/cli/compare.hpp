// `nightjar compare`: files of metrics (TorchBench, dynamo, our own), control against treatment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "service/cli/metric_direction.hpp"

namespace nightjar::cli {

struct CompareOptions {
  std::vector<std::filesystem::path> control, treatment;  // several a side are runs
  double threshold = .07;
  ChosenDirections directions;   // of metrics whose direction is not known otherwise
  std::string format = "table";  // or "markdown", "json"
  bool fail_on_worse = false;
};

// Prints the table, and what is on one side only; returns 1 if something is worse, or runs no
// longer, and `fail_on_worse`.
int compare(const CompareOptions& options);

}  // namespace nightjar::cli
