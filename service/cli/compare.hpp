// `nightjar compare`: files of metrics (TorchBench, dynamo, our own), control against treatment.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/cli/known_units.hpp"
#include "service/cli/metric_direction.hpp"

namespace nightjar::cli {

struct CompareOptions {
  std::vector<std::filesystem::path> control, treatment;  // several a side are runs
  double threshold = .07;
  // Thresholds of metrics that a glob fits. If several fit, the last counts.
  std::vector<std::pair<std::string, double>> thresholds;
  std::optional<Amount> at_least;  // a smaller change does not count, whatever its share
  ChosenDirections directions;     // of metrics whose direction is not known otherwise
  std::string format = "table";    // or "markdown", "json", "github", "junit"
  bool only_changed = false;       // list no metric that stayed the same
  bool by_size = false;            // list the largest changes first, not by name
  bool fail_on_worse = false;
  std::filesystem::path badge = {};  // file to write one to, see badge.hpp; empty: none
};

// Prints the table, and what is on one side only; returns 1 if something is worse, or runs no
// longer, and `fail_on_worse`.
int compare(const CompareOptions& options);

}  // namespace nightjar::cli
