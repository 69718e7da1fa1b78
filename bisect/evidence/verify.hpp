// Judges an evidence bundle again: its verdicts from the raw samples, its accusation from the
// verdicts, and the rest by its seal. Used by `nightjar verify`. A bundle is what GET
// /api/v1/regressions/{id}/evidence answers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bisect/evidence/seal.hpp"

namespace nightjar::evidence {

struct Finding {
  std::string stage;    // "screening", "creep", "confirmation", "bisection"
  std::string verdict;  // what the bundle says
  bool agrees = false;
  std::string why;  // one sentence: on what it was judged again, or what differs
};

// Bundles of earlier versions have no seal: what nothing in them derives is not bound then.
struct Seal {
  bool present = false;
  std::vector<std::string> edited;  // one sentence a field
};

struct Verification {
  std::vector<Finding> verdicts;            // in order
  std::vector<std::string> contradictions;  // one sentence a field, see statement.hpp
  Seal seal;
  bool agrees() const;
};

// A figure agrees within a millionth. Throws nlohmann::json::exception for what is no bundle.
Verification verify_bundle(const nlohmann::json& bundle, Hash hash);

}  // namespace nightjar::evidence
