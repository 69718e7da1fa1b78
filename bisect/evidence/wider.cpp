#include "bisect/evidence/wider.hpp"

#include <nlohmann/json.hpp>

namespace nightjar::evidence {

std::string with_good_end(const std::string& evidence, BuildId good) {
  nlohmann::json said = nlohmann::json::parse(evidence);
  said["good_end"] = good.value;
  return said.dump();
}

}  // namespace nightjar::evidence
