// An OpenID Connect issuer with keys of its own, which signs any claims in any way.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <string>
#include <string_view>

namespace nightjar {

inline std::string jwt_part(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

class SigningIssuer {
 public:
  explicit SigningIssuer(std::string key_id = "key-1", unsigned bits = 2048)
      : key_id_(std::move(key_id)), key_(EVP_RSA_gen(bits), EVP_PKEY_free) {}

  const std::string& key_id() const { return key_id_; }
  nlohmann::json jwk() const {
    return {{"kty", "RSA"},   {"use", "sig"},     {"alg", "RS256"},
            {"kid", key_id_}, {"n", number("n")}, {"e", number("e")}};
  }
  std::string jwk_set() const {
    return nlohmann::json{{"keys", nlohmann::json::array({jwk()})}}.dump();
  }
  std::string signed_token(const nlohmann::json& claims, const nlohmann::json& more = {}) const {
    nlohmann::json header{{"alg", "RS256"}, {"typ", "JWT"}, {"kid", key_id_}};
    if (more.is_object()) header.update(more);
    const std::string text = jwt_part(header.dump()) + "." + jwt_part(claims.dump());
    return text + "." + jwt_part(signature(text));
  }

 private:
  std::string number(const char* name) const {
    BIGNUM* value = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &value);
    const std::unique_ptr<BIGNUM, void (*)(BIGNUM*)> owned(value, BN_free);
    std::string bytes(static_cast<std::size_t>(BN_num_bytes(value)), '\0');
    BN_bn2bin(value, reinterpret_cast<unsigned char*>(bytes.data()));
    return jwt_part(bytes);
  }
  std::string signature(const std::string& text) const {
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                     EVP_MD_CTX_free);
    const auto* data = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
    EVP_DigestSign(context.get(), nullptr, &size, data, text.size());
    std::string made(size, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(made.data()), &size, data,
                   text.size());
    made.resize(size);
    return made;
  }

  std::string key_id_;
  std::shared_ptr<EVP_PKEY> key_;
};

}  // namespace nightjar
