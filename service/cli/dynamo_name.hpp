// What the name of a result file of PyTorch's benchmarks/dynamo says. Used by model_results.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nightjar::cli {

// Words as the name has them; what it lacks is empty.
struct DynamoName {
  std::string compiler, suite, precision, task, device, architecture;
};

// <compiler>_<suite>_<dtype>_<training|inference>_<device>[_<arch>]_<performance|accuracy>; nullopt
// for another name.
std::optional<DynamoName> dynamo_result_name(std::string_view stem);
// The same for a file of PyTorch's ci_expected_accuracy:
// <compiler>_<suite>[_...]_<training|inference>. What stands between suite and task belongs to the
// compiler.
std::optional<DynamoName> dynamo_expected_name(std::string_view stem);

}  // namespace nightjar::cli
