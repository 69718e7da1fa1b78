// Tokens and signatures: hashing, HMAC, comparison in constant time, and who can read their files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "storage/model/hex.hpp"

namespace nightjar::web {

Sha256 sha256(std::string_view bytes);
// What a Content-Security-Policy calls a style or script of this text: "'sha256-<base64>'".
std::string policy_source(std::string_view text);
// X-Hub-Signature-256 as GitHub makes it of the raw body: "sha256=<64 hex>", an HMAC-SHA256.
std::string signature_of(std::string_view secret, std::string_view body);
// Checks such a header in constant time.
bool signature_matches(std::string_view secret, std::string_view body, std::string_view header);
bool equal_in_constant_time(std::string_view a, std::string_view b);
// 32 random bytes as 64 hex digits.
std::string random_token();
// Returns a warning if every user of this machine can read the secret in `file`, which also says
// what to do.
std::optional<std::string> exposure(const std::filesystem::path& file);

}  // namespace nightjar::web
