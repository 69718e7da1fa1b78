#include "service/issuers.hpp"

#include <atomic>
#include <future>

#include <catch2/catch.hpp>

#include "tests/support/issuer.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nlohmann::json;

namespace {

const Time today = *parse_rfc3339("2026-08-20T20:00:00Z");
const std::string document =
    R"({"issuer":"https://issuer.test","jwks_uri":"https://keys.test/jwks"})";

OidcConfig entry() {
  OidcConfig oidc;
  oidc.issuer = "https://issuer.test";
  oidc.audience = "https://nightjar.test";
  oidc.claims = {{"repository", "octo/*"}, {"ref", "refs/heads/main"}};
  return oidc;
}

json good_claims() {
  return {{"iss", "https://issuer.test"},
          {"aud", {"else", "https://nightjar.test"}},
          {"repository", "octo/pytorch"},
          {"ref", "refs/heads/main"},
          {"event_name", "schedule"},
          {"nbf", 1787256000},
          {"exp", 1787257000}};
}

const SigningIssuer& issuer() {
  static const SigningIssuer made;
  return made;
}

std::string objection_to(const json& change) {
  json claims = good_claims();
  claims.update(change);
  return objection(web::Jwt::parse(issuer().signed_token(claims)).claims(), entry(), today);
}

web::Jwt token_of(const SigningIssuer& of) {
  return web::Jwt::parse(of.signed_token(good_claims()));
}

// The verdict once the keys have come, or a fetch has failed.
Issuers::Verdict settled(Issuers& issuers, const web::Jwt& jwt) {
  for (;;) {
    auto verdict = issuers.judge(jwt, today);
    const auto* not_yet = std::get_if<Issuers::NotYet>(&verdict);
    if (!not_yet || not_yet->reason.find("failed") != std::string::npos) return verdict;
  }
}

}  // namespace

TEST_CASE("Claims are held against issuer, audience, time and the configuration") {
  CHECK(objection_to(json::object()).empty());
  CHECK_THAT(objection_to({{"iss", "https://issuer.test/"}}), Contains("another issuer"));
  CHECK_THAT(objection_to({{"aud", "https://nightjar.test.evil"}}), Contains("another audience"));
  CHECK_THAT(objection_to({{"exp", 1787255900}}), Contains("ended at 2026-08-20T19:58:20Z"));
  CHECK(objection_to({{"exp", 1787255950}}).empty());  // the clocks may differ by a minute
  CHECK_THAT(objection_to({{"nbf", 1787256061}}), Contains("not valid before"));
  CHECK_THAT(objection_to({{"ref", "refs/heads/mainline"}}), Contains("'ref' is"));
  CHECK_THAT(objection_to({{"ref", nullptr}}), Contains("has no claim 'ref'"));
  CHECK_THAT(objection_to({{"repository", "octopus/pytorch"}}), Contains("not 'octo/*'"));
  for (const char* event : {"pull_request", "pull_request_target", "pull_request_review"})
    CHECK_THAT(objection_to({{"event_name", event}}), Contains("pull request"));
}

TEST_CASE("Keys are fetched from where the issuer says, and not again for every stranger") {
  const SigningIssuer next("key-2");
  std::atomic<int> fetches = 0;
  Issuers issuers({entry()}, [&](const std::string& url, const std::stop_token&) {
    if (url.starts_with("https://issuer.test/")) return document;
    ++fetches;
    return issuer().jwk_set();
  });
  CHECK(std::holds_alternative<Issuers::Admitted>(settled(issuers, token_of(issuer()))));
  const auto unknown = settled(issuers, token_of(next));
  CHECK_THAT(std::get<Issuers::Refused>(unknown).reason, Contains("has no key 'key-2'"));
  CHECK(fetches == 1);  // strangers cannot have the issuer asked again and again
}

TEST_CASE("An issuer that stalls or fails lets nobody in and keeps nobody waiting") {
  std::promise<void> going_on;
  auto goes_on = going_on.get_future().share();
  Issuers issuers({entry()}, [goes_on](const std::string&, const std::stop_token&) -> std::string {
    goes_on.wait();
    throw std::runtime_error("the line is dead");
  });
  CHECK(std::holds_alternative<Issuers::NotYet>(issuers.judge(token_of(issuer()), today)));
  going_on.set_value();
  const auto verdict = settled(issuers, token_of(issuer()));
  CHECK_THAT(std::get<Issuers::NotYet>(verdict).reason, Contains("failed: the line is dead"));
}

TEST_CASE("A document of another issuer is not believed") {
  Issuers issuers({entry()}, [](const std::string&, const std::stop_token&) -> std::string {
    return R"({"issuer":"https://evil.test","jwks_uri":"https://keys.test/jwks"})";
  });
  CHECK_THAT(std::get<Issuers::NotYet>(settled(issuers, token_of(issuer()))).reason,
             Contains("of the issuer 'https://evil.test'"));
}

TEST_CASE("Without an entry nobody is asked and nobody is let in") {
  Issuers issuers({});
  CHECK_THAT(std::get<Issuers::Refused>(issuers.judge(token_of(issuer()), today)).reason,
             Contains("no [[oidc]]"));
}
