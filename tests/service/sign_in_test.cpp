#include "service/sign_in.hpp"

#include <catch2/catch.hpp>

#include "tests/support/issuer.hpp"
#include "tests/support/manual_clock.hpp"
#include "web/text.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nlohmann::json;

namespace {

const Time morning = *parse_rfc3339("2026-08-20T08:00:00Z");
constexpr std::int64_t morning_seconds = 1787212800;

const SigningIssuer& provider_keys() {
  static const SigningIssuer made;
  return made;
}

Config config_of_people() {
  Config config;
  config.service.public_url = "https://nightjar.test/speed";
  config.sign_in.issuer = "https://login.test/";
  config.sign_in.client_id = "n";
  config.sign_in.admin = {"perf-*"};
  config.sign_in.read = {"staff"};
  return config;
}

json claims_of_ada(const std::string& nonce) {
  return {{"iss", "https://login.test/"},    {"aud", "n"},     {"sub", "7"},
          {"exp", morning_seconds + 300},    {"nonce", nonce}, {"email", "ada@test"},
          {"groups", {"staff", "perf-core"}}};
}

// The principal's name and role, or why there is none.
std::string person_in(const json& change, Config::SignIn config = config_of_people().sign_in) {
  json claims = claims_of_ada("once");
  claims.update(change);
  const auto jwt = web::Jwt::parse(provider_keys().signed_token(claims));
  const auto person = person_of(jwt.claims(), config, "once");
  if (const auto* why = std::get_if<std::string>(&person)) return *why;
  const auto& found = std::get<web::Principal>(person);
  return found.name + " " + std::string(name_of(found.role));
}

// A provider that answers by itself.
struct People {
  explicit People(std::string authorization = "https://login.test/authorize?tenant=1")
      : sign_in(
            config_of_people(), clock,
            [authorization](const std::string& url, const std::stop_token&) {
              if (url == "https://keys.test/jwks") return provider_keys().jwk_set();
              return json{{"issuer", "https://login.test/"},
                          {"jwks_uri", "https://keys.test/jwks"},
                          {"authorization_endpoint", authorization},
                          {"token_endpoint", "https://login.test/token"}}
                  .dump();
            },
            [this](const web::ClientRequest& request, const std::stop_token&) {
              asked = request;
              web::ClientResponse response;
              response.status = status;
              response.body = json{{"id_token", provider_keys().signed_token(claims)}}.dump();
              return response;
            }) {}
  SignIn::Begun begin() {
    for (;;)
      if (auto begun = sign_in.begin()) return *begun;
  }
  std::map<std::string, std::string> query_of(const SignIn::Begun& begun) {
    return web::parse_target(begun.provider)->query;
  }

  ManualClock clock{morning};
  json claims;
  unsigned status = 200;
  web::ClientRequest asked;
  SignIn sign_in;
};

}  // namespace

TEST_CASE("A person signs in by a code, which only who began can redeem") {
  People people;
  const auto begun = people.begin();
  const auto query = people.query_of(begun);
  CHECK(begun.provider.starts_with("https://login.test/authorize?tenant=1&"));
  CHECK(query.at("redirect_uri") == "https://nightjar.test/speed/sign-in/callback");
  CHECK(query.at("scope") == "openid email");
  CHECK(query.at("code_challenge_method") == "S256");
  people.claims = claims_of_ada(query.at("nonce"));
  const auto outcome = people.sign_in.finish({"c+d", query.at("state"), "", ""}, begun.cookie);
  const auto* secret = std::get_if<std::string>(&outcome);
  REQUIRE(secret);
  CHECK_THAT(people.asked.body, Contains("code=c%2Bd&") && Contains("code_verifier="));
  CHECK_THAT(people.asked.body, !Contains(query.at("code_challenge")));
  CHECK(people.sign_in.sessions().find(*secret)->name == "user:ada@test");
  people.clock.advance(std::chrono::hours(12));
  CHECK_FALSE(people.sign_in.sessions().find(*secret));
}

TEST_CASE("A sign-in that another browser began, or long ago, is refused before anybody is asked") {
  People people;
  const auto begun = people.begin(), other = people.begin();
  const std::string state = people.query_of(begun).at("state");
  const auto status_of = [&](const std::string& said, const std::string& cookie) {
    const auto outcome = people.sign_in.finish({"code", said, "", ""}, cookie);
    return std::get<SignIn::Refused>(outcome).status;
  };
  CHECK(status_of(state, "") == 400);
  CHECK(status_of(state, other.cookie) == 400);
  CHECK(status_of("", begun.cookie) == 400);
  std::string later = begun.cookie;
  later.replace(0, later.find('.'), std::to_string(morning_seconds + 1));
  people.clock.advance(longest_sign_in);
  CHECK(status_of(state, begun.cookie) == 400);
  CHECK(status_of(state, later) == 400);  // the time in a cookie is part of what it gives
  CHECK(people.asked.url.empty());
}

TEST_CASE("A provider that refuses or fails signs nobody in, and it is told apart") {
  People people;
  const auto begun = people.begin();
  const auto query = people.query_of(begun);
  people.claims = claims_of_ada(query.at("nonce"));
  const auto finish = [&](unsigned status) {
    people.status = status;
    return std::get<SignIn::Refused>(
               people.sign_in.finish({"c", query.at("state"), "", ""}, begun.cookie))
        .status;
  };
  CHECK(finish(400) == 403);
  CHECK(finish(503) == 502);
  const auto wrong_issuer =
      people.sign_in.finish({"c", query.at("state"), "https://login.test", ""}, begun.cookie);
  CHECK(std::get<SignIn::Refused>(wrong_issuer).status == 400);
  People insecure("http://login.test/authorize");
  CHECK_THROWS_WITH(insecure.begin(), Contains("names no address that could be used"));
}

TEST_CASE("Claims make an admin, a reader or nobody") {
  CHECK(person_in(json::object()) == "user:ada@test admin");
  CHECK(person_in({{"groups", "staff"}}) == "user:ada@test read");
  CHECK(person_in({{"email", nullptr}}) == "user:7 admin");
  CHECK(person_in({{"aud", {"n", "b"}}, {"azp", "n"}}) == "user:ada@test admin");
  CHECK_THAT(person_in({{"aud", {"n", "b"}}}), Contains("not for this service"));
  CHECK_THAT(person_in({{"azp", "b"}}), Contains("was made for 'b'"));
  CHECK_THAT(person_in({{"nonce", "twice"}}), Contains("another sign-in"));
  CHECK_THAT(person_in({{"nonce", nullptr}}), Contains("another sign-in"));
  CHECK_THAT(person_in({{"groups", {"guests"}}}), Contains("gives you a role"));
  CHECK_THAT(person_in({{"email_verified", false}}), Contains("has not verified"));
  CHECK_THAT(person_in({{"email", nullptr}, {"sub", ""}}), Contains("names nobody"));
}

TEST_CASE("Of a person's many sessions the oldest ends, and another's stays") {
  ManualClock clock(morning);
  WebSessions sessions(clock);
  const web::Principal ada{"user:ada", web::Role::admin}, bob{"user:bob", web::Role::read};
  const auto other = sessions.open(bob, std::chrono::hours(1));
  const auto first = sessions.open(ada, std::chrono::hours(1));
  clock.advance(std::chrono::seconds(1));
  for (int i = 0; i < 19; ++i) sessions.open(ada, std::chrono::hours(1));
  CHECK(sessions.find(first));
  sessions.open(ada, std::chrono::hours(1));
  CHECK_FALSE(sessions.find(first));
  CHECK(sessions.find(other)->name == "user:bob");
  sessions.close(other);
  CHECK_FALSE(sessions.find(other));
}

TEST_CASE("An origin is written as browsers write it") {
  CHECK(browser_origin("https://Nightjar.test:443/speed") == "https://nightjar.test");
  CHECK(browser_origin("http://[::1]:8187") == "http://[::1]:8187");
}
