// Verifies an evidence bundle: its verdicts from the raw samples, its claim from the verdicts, and
// the rest by its seal. Used by `nightjar verify`. A bundle is the answer of GET
// /api/v1/regressions/{id}/evidence.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bisect/evidence/seal.hpp"

namespace nightjar::evidence {

struct Finding {
  // "screening", "creep", "history", "confirmation", "attribution", "wheels", "packages",
  // "bisection"
  std::string stage;
  std::string verdict;  // what the bundle says
  bool agrees = false;
  std::string why;  // one sentence: the rule that agrees, or what differs
};

// Bundles of earlier versions have no seal.
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

// Figures agree within a millionth. Throws nlohmann::json::exception if this is no bundle.
Verification verify_bundle(const nlohmann::json& bundle, Hash hash);

}  // namespace nightjar::evidence
