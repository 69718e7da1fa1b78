// What `measure` found, in the formats that people and scripts read. Pure.
#pragma once

#include <string>

#include "runner/format/measurement.hpp"
#include "runner/format/suite_result.hpp"

namespace nightjar::runner {

// The contract of docs: {"items": [...]}; one that could not run is an item with its reason.
std::string measurement_json(const Measurement& measurement);
// "table", "csv" and "accuracy-csv" (dynamo's), "torchbench" (its metrics file).
std::string formatted(const SuiteResult& result, const std::string& format);

}  // namespace nightjar::runner
