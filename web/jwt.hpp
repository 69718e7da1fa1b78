// JSON Web Tokens (RFC 7519) that an issuer signed with RS256, and its public keys (RFC 7517).
// Every other algorithm is refused, "none" and HS256 among them. Used where runners enrol with the
// token of a CI job.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/time.hpp"

struct evp_pkey_st;

namespace nightjar::web {

// The token is malformed, or signed in a way that is not accepted. what() is for its sender.
class BadJwt : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct JwtClaims {
  std::string issuer, subject;
  std::vector<std::string> audiences;
  Time ends{};                      // "exp"
  std::optional<Time> begins = {};  // "nbf"
  // All claims that are text, a number or true or false, by name; numbers as JSON writes them.
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<std::string>> lists;  // the texts in claims that are lists
};

class Jwt {
 public:
  // Three parts with dots in between, as a JWT has them; anything else is another kind of token.
  static bool is_like(std::string_view text);
  // Throws BadJwt. Nothing of it is to be believed before it is verified.
  static Jwt parse(std::string_view text);

  const std::string& key_id() const { return key_id_; }
  const JwtClaims& claims() const { return claims_; }
  // What is signed. A signature can be written in several ways, this cannot.
  const std::string& signed_text() const { return signed_text_; }

 private:
  friend class JwtKeys;
  std::string key_id_, signed_text_, signature_;
  JwtClaims claims_;
};

// The RSA keys of one issuer, at least 2048 bits each.
class JwtKeys {
 public:
  // A JWK Set. Keys of other types or for other uses are left out. Throws std::runtime_error if it
  // is none, or if no key is left.
  static JwtKeys parse(std::string_view jwk_set);

  bool has(const std::string& key_id) const { return keys_.contains(key_id); }
  // Throws BadJwt if the key is not among these, or did not sign the token.
  void verify(const Jwt& jwt) const;

 private:
  std::map<std::string, std::shared_ptr<evp_pkey_st>> keys_;  // by key id
};

}  // namespace nightjar::web
