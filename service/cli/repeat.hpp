// `nightjar repeat`: how well workloads repeat here, from measurements of one build. What it prints
// is the table of docs/workloads.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bisect/noise_class.hpp"

namespace nightjar::cli {

struct RepeatOptions {
  std::vector<std::filesystem::path> files;          // of `measure --json`, one build and machine
  std::string metric = "latency", format = "table";  // or "markdown", "json"
};

// How well one workload repeats. The A/A ratio compares the build with itself: the second file with
// the first, or, if there is only one file, its odd runs with its even ones. Its interval should
// hold 1.
struct Repeated {
  std::string workload;
  std::size_t runs = 0;
  double cv =
      0;  // sd of logs of single runs within a file: what differs between files is no part of it
  bisect::Ratio ratio;
  bisect::NoiseClass kind = bisect::NoiseClass::unknown;
  bool holds_one() const { return ratio.low <= 1 && 1 <= ratio.high; }
};
// `files`: each file's values of one workload. At least two positive values in all of each side.
Repeated repeated(std::string workload, const std::vector<std::vector<double>>& files);

// Prints the table; returns 1 if some A/A ratio's interval does not hold 1, and names those on
// standard error.
int repeat(const RepeatOptions& options);

}  // namespace nightjar::cli
