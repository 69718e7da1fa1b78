#include "web/secret.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <span>
#include <stdexcept>

#include "web/digest.hpp"

namespace nightjar::web {
namespace {

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
  }
  return text;
}

}  // namespace

struct Digest::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Digest::Digest() : impl_(std::make_unique<Impl>()) {
  if (!impl_->context || EVP_DigestInit_ex(impl_->context, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("cannot start a SHA-256 digest: OpenSSL refused");
}
Digest::~Digest() = default;

void Digest::add(std::string_view bytes) {
  EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size());
}

Sha256 Digest::finish() {
  std::array<unsigned char, 32> out{};
  EVP_DigestFinal_ex(impl_->context, out.data(), nullptr);
  return *Sha256::parse(hex_of(out));
}

Sha256 sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.finish();
}

bool signature_matches(std::string_view secret, std::string_view body, std::string_view header) {
  std::array<unsigned char, 32> out{};
  unsigned length = 0;
  if (!HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
            reinterpret_cast<const unsigned char*>(body.data()), body.size(), out.data(), &length))
    return false;
  return equal_in_constant_time("sha256=" + hex_of(out), header);
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
