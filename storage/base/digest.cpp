#include "storage/base/digest.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>
#ifdef NIGHTJAR_PLAIN_SHA256
#include "storage/base/sha256.hpp"
#else
#include <openssl/evp.h>
#endif

namespace nightjar {
namespace {

int base64url_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

}  // namespace

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
  }
  return text;
}

#ifdef NIGHTJAR_PLAIN_SHA256
struct Digest::Impl {
  PlainSha256 plain;
};

Digest::Digest() : impl_(std::make_unique<Impl>()) {}

void Digest::add(std::string_view bytes) {
  impl_->plain.add(bytes);
}

Sha256 Digest::hex() {
  return *Sha256::parse(hex_of(impl_->plain.finish()));
}
#else
struct Digest::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Digest::Digest() : impl_(std::make_unique<Impl>()) {
  if (!impl_->context || EVP_DigestInit_ex(impl_->context, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL offers no SHA-256");
}

void Digest::add(std::string_view bytes) {
  EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size());
}

Sha256 Digest::hex() {
  unsigned char bytes[32];
  unsigned size = 0;
  EVP_DigestFinal_ex(impl_->context, bytes, &size);
  return *Sha256::parse(hex_of(bytes));
}
#endif

Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;

Sha256 digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.hex();
}

Sha256 digest_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  Digest digest;
  std::vector<char> buffer(1 << 16);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), in.gcount() > 0)
    digest.add({buffer.data(), static_cast<std::size_t>(in.gcount())});
  return digest.hex();
}

std::optional<std::string> bytes_from_base64url(std::string_view text) {
  std::string bytes;
  unsigned value = 0, bits = 0;
  for (const char c : text) {
    const int digit = base64url_digit(c);
    if (digit < 0) return std::nullopt;
    value = (value << 6 | static_cast<unsigned>(digit)) & 0xffffff;
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<char>(value >> (bits -= 8)));
  }
  return bytes;
}

std::string hex_from_base64url(std::string_view text) {
  const std::string bytes = bytes_from_base64url(text).value_or("");
  return hex_of({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

std::string base64url_of_hex(std::string_view hex) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const auto number = [](char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  std::string text;
  unsigned value = 0, bits = 0;
  for (const char c : hex) {
    value = (value << 4 | number(c)) & 0xffff;
    for (bits += 4; bits >= 6;) text.push_back(digits[value >> (bits -= 6) & 63]);
  }
  if (bits > 0) text.push_back(digits[value << (6 - bits) & 63]);
  return text;
}

std::string base64url_of(std::string_view bytes) {
  return base64url_of_hex(
      hex_of({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}));
}

std::string standard_base64(std::string url_safe) {
  std::replace(url_safe.begin(), url_safe.end(), '-', '+');
  std::replace(url_safe.begin(), url_safe.end(), '_', '/');
  return url_safe;
}

}  // namespace nightjar
