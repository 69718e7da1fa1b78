// Where in a JSON text a number stands: "results.0.times", "benchmarks.*.stats.min", or the JSON
// pointer "/results/0/times". Used by `bisect run --value`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace nightjar::cli {

// The steps of a path. Throws std::invalid_argument that says why it is none. `[0]` is the same as
// `.0`; `*` stands for each member or element. In a pointer `~1` is a slash and `~0` a tilde.
std::vector<std::string> path_steps(const std::string& path);

// All numbers that the path leads to; of a list at its end, each element. A text that is a number
// counts as one. Throws std::invalid_argument that says how far the path leads, unless it has one.
std::vector<double> numbers_at(const nlohmann::json& root, const std::string& path);

}  // namespace nightjar::cli
