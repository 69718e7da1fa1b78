#include "web/secret.hpp"

#include <array>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdexcept>

#include "storage/base/digest.hpp"

namespace nightjar::web {

Sha256 sha256(std::string_view bytes) {
  return digest_of(bytes);
}

std::string policy_source(std::string_view text) {
  std::array<unsigned char, 32> digest{};
  std::array<unsigned char, 45> base64{};  // and a zero byte
  if (!EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr))
    throw std::runtime_error("cannot hash a page's style");
  EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
  return "'sha256-" + std::string(reinterpret_cast<const char*>(base64.data())) + "'";
}

std::string signature_of(std::string_view secret, std::string_view body) {
  std::array<unsigned char, 32> out{};
  unsigned length = 0;
  if (!HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
            reinterpret_cast<const unsigned char*>(body.data()), body.size(), out.data(), &length))
    throw std::runtime_error("cannot sign a webhook's body");
  return "sha256=" + hex_of(out);
}

bool signature_matches(std::string_view secret, std::string_view body, std::string_view header) {
  return equal_in_constant_time(signature_of(secret, body), header);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_token() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw std::runtime_error("cannot draw a token: the system gave no random bytes");
  return hex_of(bytes);
}

std::optional<std::string> exposure(const std::filesystem::path& file) {
  using std::filesystem::perms;
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (error || (status.permissions() & perms::others_read) == perms::none) return std::nullopt;
  return "every user of this machine can read the secret in " + file.string() +
         "; run: chmod o-rwx " + file.string();
}

}  // namespace nightjar::web
