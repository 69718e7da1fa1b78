// Whether two pieces of evidence say the same. Used when a bundle is verified.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nightjar::evidence {

// Another machine's arithmetic may round differently.
inline constexpr double rounding = 1e-6;
// `tolerance` is a share of the larger figure.
bool same_figure(double a, double b, double tolerance = rounding);
// Empty, or one sentence that names the first field in which the two differ, its path after
// `where`.
std::string first_difference(const nlohmann::json& said, const nlohmann::json& again,
                             const std::string& where, double tolerance = rounding);

}  // namespace nightjar::evidence
