// SHA-256 piece by piece: of downloads, of archives while they are unpacked, of source trees, of
// machine facts.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/model/hex.hpp"

namespace nightjar {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  void add(std::string_view bytes);
  // Returns the hash of all that was added. May be called once.
  Sha256 hex();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Sha256 digest_of(std::string_view bytes);
// Two lower-case digits a byte.
std::string hex_of(std::span<const unsigned char> bytes);
// Throws std::runtime_error that names `path` if it cannot be read.
Sha256 digest_of_file(const std::filesystem::path& path);
// The bytes of URL-safe base64 without padding; bits that fill no byte are not looked at. nullopt
// if a character is none of it.
std::optional<std::string> bytes_from_base64url(std::string_view text);
// As a wheel's RECORD writes a SHA-256. Empty if malformed.
std::string hex_from_base64url(std::string_view text);
// The other way; `hex` has an even number of digits.
std::string base64url_of_hex(std::string_view hex);
std::string base64url_of(std::string_view bytes);
// The same in the standard alphabet, as headers have it; still without padding.
std::string standard_base64(std::string url_safe);

}  // namespace nightjar
