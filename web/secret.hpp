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
// Checks GitHub's X-Hub-Signature-256 ("sha256=<64 hex>") over the raw body, in constant time.
bool signature_matches(std::string_view secret, std::string_view body, std::string_view header);
bool equal_in_constant_time(std::string_view a, std::string_view b);
// 32 random bytes as 64 hex digits.
std::string random_token();
// Returns a warning if every user of this machine can read the secret in `file`, which also says
// what to do.
std::optional<std::string> exposure(const std::filesystem::path& file);

}  // namespace nightjar::web
