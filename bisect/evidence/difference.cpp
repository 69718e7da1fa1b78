#include "bisect/evidence/difference.hpp"

#include <algorithm>
#include <cmath>

#include "storage/model/json.hpp"

namespace nightjar::evidence {
using nlohmann::json;

bool same_figure(double a, double b, double tolerance) {
  return std::abs(a - b) <= std::max(1e-12, tolerance * std::max(std::abs(a), std::abs(b)));
}

std::string first_difference(const json& said, const json& again, const std::string& where,
                             double tolerance) {
  if (said.is_number() && again.is_number()) {
    if (same_figure(said.get<double>(), again.get<double>(), tolerance)) return {};
  } else if (said.is_object() && again.is_object()) {
    for (const auto& [key, value] : again.items())
      if (!said.contains(key)) return where + "/" + key + " is missing";
    for (const auto& [key, value] : said.items()) {
      if (!again.contains(key)) return where + "/" + key + " does not belong there";
      auto deeper = first_difference(value, again.at(key), where + "/" + key, tolerance);
      if (!deeper.empty()) return deeper;
    }
    return {};
  } else if (said.is_array() && again.is_array() && said.size() == again.size()) {
    for (std::size_t i = 0; i < said.size(); ++i) {
      auto deeper = first_difference(said[i], again[i], where + "/" + std::to_string(i), tolerance);
      if (!deeper.empty()) return deeper;
    }
    return {};
  } else if (said == again) {
    return {};
  }
  return where + " was " + said.dump() + ", is " + again.dump();
}

}  // namespace nightjar::evidence
