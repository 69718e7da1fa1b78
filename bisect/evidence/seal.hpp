// The seal of an evidence bundle: a SHA-256 over all that it says, and a short check of each field.
// It binds what nothing in the bundle derives, such as the machine, the settings and the times. It
// is no signature: whoever edits a bundle can seal it anew, so what can be derived is derived
// (statement.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/hex.hpp"

namespace nightjar::evidence {

// SHA-256; each program has one of its own room.
using Hash = Sha256 (*)(std::string_view bytes);

// Bundles of this format, and later ones, carry a seal.
inline constexpr int sealed_format = 2;

// What goes into the field "seal" of `bundle`, whose own seal does not count.
nlohmann::json seal_of(const nlohmann::json& bundle, Hash hash);
// One sentence for each field that is not as it was sealed. The bundle has a seal.
std::vector<std::string> edited_fields(const nlohmann::json& bundle, Hash hash);

}  // namespace nightjar::evidence
