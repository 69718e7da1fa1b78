// Values by metric from files that are compared as runs. Used by `compare`.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "storage/model/metric.hpp"

namespace nightjar::cli {

// Of TorchBench's metrics files by their names, a value a file; of dynamo's performance CSV by "<workload> <column>";
// of the JSON of `nightjar-runner measure` by "<workload> <metric>", a value a run. What was not
// measured (a text in place of a number, null; 0 or a negative number but of a slope) is left out. Throws BadInput that
// names the file.
std::map<std::string, std::vector<double>> read_metrics(
    const std::vector<std::filesystem::path>& files);
// True for what is better when higher: throughput, speed-up, compression, FLOPS, by name.
bool higher_is_better(const std::string& metric);
// The metric of ours that `name` ends with, or whose kind it is (TorchBench's and dynamo's memory: peak memory);
// else nullptr.
const Metric* metric_of(const std::string& name);
// What `name` counts in, by whose name it is: ours, dynamo's column, or TorchBench's; empty if it is not known.
std::string unit_of(const std::string& name);

}  // namespace nightjar::cli
