#include "web/jwt.hpp"

#include <openssl/hmac.h>

#include <catch2/catch.hpp>

#include "tests/support/issuer.hpp"

using namespace nightjar;
using Catch::Contains;
using nlohmann::json;
using web::BadJwt;
using web::Jwt;
using web::JwtKeys;

namespace {

const SigningIssuer& issuer() {
  static const SigningIssuer made;
  return made;
}

json claims() {
  return {{"iss", "https://issuer.test"}, {"sub", "repo:a/b"}, {"aud", {"https://x.test", "y"}},
          {"exp", 2000000000.5},          {"nbf", 1000000000}, {"run_attempt", 2},
          {"nested", {{"a", 1}}}};
}

// What is signed, with another last part.
std::string with_signature(const std::string& token, const std::string& signature) {
  return token.substr(0, token.rfind('.') + 1) + signature;
}

std::string hs256(const std::string& secret) {
  const std::string text =
      jwt_part(R"({"alg":"HS256","kid":"key-1"})") + "." + jwt_part(claims().dump());
  unsigned char made[32];
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), made, &size);
  return text + "." + jwt_part({reinterpret_cast<const char*>(made), size});
}

}  // namespace

TEST_CASE("A token that the issuer's key signed is verified, and its claims are read") {
  const Jwt jwt = Jwt::parse(issuer().signed_token(claims()));
  JwtKeys::parse(issuer().jwk_set()).verify(jwt);
  CHECK(jwt.key_id() == "key-1");
  CHECK(jwt.claims().issuer == "https://issuer.test");
  CHECK(jwt.claims().audiences == std::vector<std::string>{"https://x.test", "y"});
  CHECK(to_rfc3339(jwt.claims().ends) == "2033-05-18T03:33:20Z");
  CHECK(jwt.claims().texts.at("run_attempt") == "2");
  CHECK_FALSE(jwt.claims().texts.contains("nested"));
}

TEST_CASE("Another algorithm is refused, also where the public key is its secret") {
  const std::string none = issuer().signed_token(claims(), {{"alg", "none"}});
  CHECK_THROWS_WITH(Jwt::parse(none), Contains("'none', and only RS256 is accepted"));
  CHECK_THROWS_WITH(Jwt::parse(with_signature(none, "")), Contains("only RS256"));
  CHECK_THROWS_WITH(Jwt::parse(hs256(issuer().jwk_set())), Contains("'HS256'"));
  CHECK_THROWS_WITH(Jwt::parse(issuer().signed_token(claims(), {{"crit", {"exp"}}})),
                    Contains("crit"));
}

TEST_CASE("A token that another key signed, or that was changed, is refused") {
  const JwtKeys keys = JwtKeys::parse(issuer().jwk_set());
  const std::string good = issuer().signed_token(claims());
  json other = claims();
  other["sub"] = "repo:evil/b";
  const std::string forged = issuer().signed_token(other);
  const std::string mixed = with_signature(forged, good.substr(good.rfind('.') + 1));
  CHECK_THROWS_WITH(keys.verify(Jwt::parse(mixed)), Contains("signature is not of its issuer"));
  const SigningIssuer thief("key-1");
  CHECK_THROWS_AS(keys.verify(Jwt::parse(thief.signed_token(claims()))), BadJwt);
  const SigningIssuer unknown("key-2");
  CHECK_THROWS_WITH(keys.verify(Jwt::parse(unknown.signed_token(claims()))),
                    Contains("has no key 'key-2'"));
}

TEST_CASE("A signature is written in one way only") {
  const std::string good = issuer().signed_token(claims());
  CHECK_THROWS_AS(Jwt::parse(good + "="), BadJwt);
  CHECK_THROWS_AS(Jwt::parse(good + "\n"), BadJwt);
  // 256 bytes leave four bits of the last character without a meaning.
  std::string twin = good;
  const std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  twin.back() = alphabet[alphabet.find(twin.back()) ^ 1];
  CHECK_THROWS_AS(Jwt::parse(twin), BadJwt);
}

TEST_CASE("What is no token, or has no end, is refused with its reason") {
  CHECK_THROWS_AS(Jwt::parse(""), BadJwt);
  CHECK_THROWS_AS(Jwt::parse("eyJ.e30.x"), BadJwt);
  CHECK_THROWS_AS(Jwt::parse("a.b.c"), BadJwt);
  json endless = claims();
  endless.erase("exp");
  CHECK_THROWS_WITH(Jwt::parse(issuer().signed_token(endless)), Contains("no claim \"exp\""));
  endless["exp"] = 1e300;
  CHECK_THROWS_WITH(Jwt::parse(issuer().signed_token(endless)), Contains("\"exp\" is no time"));
}

TEST_CASE("Keys that are short, of another kind or not for signatures do not count") {
  const auto set_of = [](const json& key) {
    return json{{"keys", json::array({key, 7, json::object()})}}.dump();
  };
  const SigningIssuer small("key-1", 1024);
  CHECK_THROWS_WITH(JwtKeys::parse(set_of(small.jwk())), Contains("no RSA key of 2048 bits"));
  json encrypts = issuer().jwk();
  encrypts["use"] = "enc";
  CHECK_THROWS(JwtKeys::parse(set_of(encrypts)));
  json other = issuer().jwk();
  other["alg"] = "PS256";
  CHECK_THROWS(JwtKeys::parse(set_of(other)));
  CHECK_THROWS_WITH(JwtKeys::parse("[]"), Contains("no JWK Set"));
  CHECK(JwtKeys::parse(set_of(issuer().jwk())).has("key-1"));
}
