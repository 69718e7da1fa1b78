// `nightjar compare`: TorchBench metrics files, control against treatment.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bisect/detection.hpp"

namespace nightjar::cli {

struct CompareOptions {
  std::vector<std::filesystem::path> control, treatment;  // several a side are runs
  double threshold = .07;
  std::string format = "table";  // or "markdown", "json"
  bool fail_on_worse = false;
};

// Values by metric, a file each. Throws BadInput that names the file.
std::map<std::string, std::vector<double>> read_metrics(
    const std::vector<std::filesystem::path>& files);
// True for what is better when higher: throughput, speed-up, FLOPS, by name.
bool higher_is_better(const std::string& metric);
// Prints the table; returns 1 if something is worse and `fail_on_worse`.
int compare(const CompareOptions& options);

}  // namespace nightjar::cli
