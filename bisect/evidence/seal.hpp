// The seal of an evidence bundle: a SHA-256 of its content and a short check of each field. It
// protects what the rest of the bundle does not imply, such as the machine, settings and times. It
// is no signature, since anyone can seal an edited bundle again; statement.hpp checks the rest.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/hex.hpp"

namespace nightjar::evidence {

// SHA-256 of the bytes. A parameter, because `bisect` uses no cryptographic library.
using Hash = Sha256 (*)(std::string_view bytes);

// Bundles of this format, and later ones, carry a seal.
inline constexpr int sealed_format = 2;

// The field "seal" of `bundle`; a seal that it already has is ignored.
nlohmann::json seal_of(const nlohmann::json& bundle, Hash hash);
// One sentence for each field that differs from what was sealed. The bundle must have a seal.
std::vector<std::string> edited_fields(const nlohmann::json& bundle, Hash hash);

}  // namespace nightjar::evidence
