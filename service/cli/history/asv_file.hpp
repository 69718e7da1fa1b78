// What a result file of airspeed velocity (asv) says, versions 1 and 2. Used by `import`, and by
// the commands that read single files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::cli {

// What one benchmark came to: a value for each combination of its parameters.
struct AsvOutcome {
  std::string benchmark;
  std::vector<std::vector<double>> values;  // empty: failed or not measured
  std::vector<std::string> names;           // of the combinations; "" if there are no parameters
  std::string version;                      // of the benchmark's source
};
// Reads all benchmarks of the file. Those that make no sense are told in `left_out`, a line each.
std::vector<AsvOutcome> asv_outcomes(const nlohmann::json& root,
                                     std::vector<std::string>& left_out);
// "module.time_x-float64": the benchmark with the names of its parameters.
std::string asv_name(const AsvOutcome& outcome, std::size_t combination);

// asv names a benchmark's kind by how its method begins.
struct AsvKind {
  // No metric: what it counts is the author's own. The unit is how the file counts it.
  const char *begin, *task, *metric, *unit;
};
const AsvKind& asv_kind(const std::string& benchmark);
std::string asv_method(const std::string& benchmark);

}  // namespace nightjar::cli
