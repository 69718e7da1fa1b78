// What `measure` found, in the formats that people and scripts read. Pure.
#pragma once

#include <string>

#include "runner/format/measurement.hpp"
#include "runner/format/suite_result.hpp"

namespace nightjar::runner {

// Returns the JSON of docs/formats.md. What could not run is an item with its reason.
std::string measurement_json(const Measurement& measurement);
// `format` is "table", "csv" or "accuracy-csv" (dynamo's), "torchbench" (its metrics file) or
// "database" (records of PyTorch's benchmark database).
std::string formatted(const SuiteResult& result, const std::string& format);

}  // namespace nightjar::runner
