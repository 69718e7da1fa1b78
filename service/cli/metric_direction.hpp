// Which way a metric of somebody else is better, as far as its name or its unit says. Used by
// `import` and `compare`.
#pragma once

#include <string>
#include <vector>

#include "storage/model/metric.hpp"

namespace nightjar::cli {

// What the user said of metrics by globs, in which `*` stands for any characters.
struct ChosenDirections {
  std::vector<std::string> higher, lower;
};
bool is_named_by(const std::vector<std::string>& globs, const std::string& metric);

// Reads the words of the name: "tokens_per_second", "GB/s" and "hit_rate" are rates, "p99_ms" and
// "peakMemory" costs. The unit decides where the name says nothing. `unknown` where neither does,
// or where the words are of both kinds or of a spread: a wrong direction would call a loss a gain.
Direction direction_of(const std::string& metric, const std::string& unit = "");
// The same, but what the user chose comes first.
Direction direction_of(const std::string& metric, const std::string& unit,
                       const ChosenDirections& chosen);

}  // namespace nightjar::cli
