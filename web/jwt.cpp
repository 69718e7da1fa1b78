#include "web/jwt.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "storage/base/digest.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/handle.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"

namespace nightjar::web {
namespace {

using nlohmann::json;

constexpr int least_bits = 2048;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// base64url without padding (RFC 7515, 2). nullopt unless it is written in the one right way.
std::optional<std::string> decoded(std::string_view text) {
  auto bytes = bytes_from_base64url(text);
  if (bytes && base64url_of_hex(hex_of({bytes_of(*bytes), bytes->size()})) != text)
    return std::nullopt;
  return bytes;
}

json object_in(std::string_view part, const char* name) {
  auto object = parse_foreign(decoded(part).value_or(""));
  if (!object.is_object()) throw BadJwt(std::string("its ") + name + " is no JSON object");
  return object;
}

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// Seconds since 1970, which may have a fraction (RFC 7519, 2).
std::optional<Time> time_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  constexpr std::int64_t farthest = 253402300799;  // the year 9999
  const auto seconds = found->is_number()
                           ? integer_in<std::int64_t>(std::floor(found->get<double>()), 0, farthest)
                           : std::nullopt;
  if (!seconds) throw BadJwt("its claim \"" + std::string(name) + "\" is no time");
  return Time(std::chrono::seconds(*seconds));
}

JwtClaims claims_in(const json& payload) {
  JwtClaims claims;
  claims.issuer = text_in(payload, "iss");
  claims.subject = text_in(payload, "sub");
  const auto ends = time_in(payload, "exp");
  if (!ends) throw BadJwt("it has no claim \"exp\", the time at which it ends");
  claims.ends = *ends;
  claims.begins = time_in(payload, "nbf");
  if (const auto audience = payload.find("aud"); audience != payload.end())
    for (const json& one : audience->is_array() ? *audience : json::array({*audience}))
      if (one.is_string()) claims.audiences.push_back(one.get<std::string>());
  for (const auto& [name, value] : payload.items())
    if (value.is_string())
      claims.texts[name] = value.get<std::string>();
    else if (value.is_number() || value.is_boolean())
      claims.texts[name] = value.dump();
    else if (value.is_array())
      for (const json& one : value)
        if (one.is_string()) claims.lists[name].push_back(one.get<std::string>());
  return claims;
}

using Number = Handle<BIGNUM, BN_free>;

Number number_in(const json& key, const char* name) {
  const auto bytes = decoded(text_in(key, name)).value_or("");
  return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

// nullptr if the key is none that signs with RS256.
std::shared_ptr<EVP_PKEY> rsa_key(const json& key) {
  const std::string use = text_in(key, "use"), algorithm = text_in(key, "alg");
  if (text_in(key, "kty") != "RSA" || (!use.empty() && use != "sig") ||
      (!algorithm.empty() && algorithm != "RS256"))
    return nullptr;
  const Number modulus = number_in(key, "n"), exponent = number_in(key, "e");
  const Handle<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> fields(OSSL_PARAM_BLD_new());
  if (!modulus || !exponent || !fields ||
      OSSL_PARAM_BLD_push_BN(fields.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(fields.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) != 1)
    return nullptr;
  const Handle<OSSL_PARAM, OSSL_PARAM_free> parameters(OSSL_PARAM_BLD_to_param(fields.get()));
  const Handle<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(
      EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* made = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    return nullptr;
  const std::shared_ptr<EVP_PKEY> owned(made, EVP_PKEY_free);
  return EVP_PKEY_get_bits(made) < least_bits ? nullptr : owned;
}

}  // namespace

bool Jwt::is_like(std::string_view text) {
  return text.starts_with("eyJ") && std::ranges::count(text, '.') == 2;
}

Jwt Jwt::parse(std::string_view text) {
  if (!is_like(text)) throw BadJwt("it has not the three parts of a JSON Web Token");
  const auto first = text.find('.'), last = text.rfind('.');
  const json header = object_in(text.substr(0, first), "header");
  const std::string algorithm = text_in(header, "alg");
  if (algorithm != "RS256")
    throw BadJwt("it is signed with " + in_quotes(algorithm) + ", and only RS256 is accepted");
  if (header.contains("crit")) throw BadJwt("its header asks for extensions (\"crit\")");
  Jwt jwt;
  jwt.key_id_ = text_in(header, "kid");
  jwt.claims_ = claims_in(object_in(text.substr(first + 1, last - first - 1), "payload"));
  jwt.signed_text_ = text.substr(0, last);
  const auto signature = decoded(text.substr(last + 1));
  if (!signature || signature->empty()) throw BadJwt("its signature is no base64url");
  jwt.signature_ = *signature;
  return jwt;
}

JwtKeys JwtKeys::parse(std::string_view jwk_set) {
  const json document = parse_foreign(jwk_set);
  const auto listed = document.is_object() ? document.find("keys") : document.end();
  if (!document.is_object() || listed == document.end() || !listed->is_array())
    throw std::runtime_error("it is no JWK Set, an object with \"keys\"");
  JwtKeys keys;
  for (const json& one : *listed)
    if (one.is_object())
      if (auto key = rsa_key(one)) keys.keys_[text_in(one, "kid")] = std::move(key);
  if (keys.keys_.empty())
    throw std::runtime_error("it has no RSA key of " + std::to_string(least_bits) +
                             " bits or more for signatures");
  return keys;
}

void JwtKeys::verify(const Jwt& jwt) const {
  const auto key = keys_.find(jwt.key_id_);
  if (key == keys_.end())
    throw BadJwt("its issuer has no key " + in_quotes(jwt.key_id_) + " for signatures");
  const Handle<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  const bool is_good =
      context &&
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key->second.get()) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(jwt.signature_), jwt.signature_.size(),
                       bytes_of(jwt.signed_text_), jwt.signed_text_.size()) == 1;
  if (!is_good) throw BadJwt("its signature is not of its issuer's key");
}

}  // namespace nightjar::web
