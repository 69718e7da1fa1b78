// Judges the verdicts of an evidence bundle again, from the raw samples in it. Used by `nightjar verify`
// and by the service's tests. A bundle is what GET /api/v1/regressions/{id}/evidence answers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace nightjar::evidence {

struct Finding {
  std::string stage;     // "screening", "creep", "confirmation", "bisection"
  std::string verdict;   // what the bundle says
  bool agrees = false;
  std::string why;       // one sentence: on what it was judged again, or what differs
};

// One finding a verdict, in order. A figure agrees within a millionth. Throws nlohmann::json::exception
// for what is no bundle.
std::vector<Finding> verify_bundle(const nlohmann::json& bundle);

}  // namespace nightjar::evidence
