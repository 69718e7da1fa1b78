#include "service/report/github_rest.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service;
using namespace std::chrono_literals;
using Headers = std::map<std::string, std::string>;

namespace {

const Time now = *parse_rfc3339("2026-08-20T10:00:00Z");  // 1787220000

struct Case {
  std::string name;
  unsigned status;
  Headers headers;
  std::string body;
  std::optional<std::chrono::seconds> wait;  // of a Transient
  bool transient;
};

}  // namespace

TEST_CASE("What an answer means is read from status and headers") {
  const Case c = GENERATE_COPY(values<Case>({
      {"secondary limit", 403, {{"retry-after", "7"}}, "", 7s, true},
      {"limit used up",
       403,
       {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1787220090"}},
       "",
       91s,
       true},
      {"limit of a clock ahead",
       429,
       {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "5"}},
       "",
       1s,
       true},
      {"limit without a time",
       403,
       {},
       R"({"message": "You have exceeded a secondary Rate Limit."})",
       60s,
       true},
      {"too many requests", 429, {}, "", 60s, true},
      {"absurd wait", 429, {{"retry-after", "99999999"}}, "", 86400s, true},
      {"unreadable wait", 429, {{"retry-after", "soon"}}, "", 60s, true},
      {"forbidden",
       403,
       {{"x-ratelimit-remaining", "41"}},
       R"({"message": "Must have rights."})",
       {},
       false},
      {"bad gateway", 502, {}, "<html>", {}, true},
      {"unavailable", 503, {{"retry-after", "30"}}, "", 30s, true},
      {"request time-out", 408, {}, "", {}, true},
      {"too early", 425, {}, "", {}, true},
      {"bad token", 401, {}, R"({"message": "Bad credentials"})", {}, true},
      {"not found", 404, {}, "", {}, false},
      {"gone", 410, {}, R"({"message": 7, "errors": []})", {}, false},
      {"unprocessable", 422, {}, R"({"message": "Validation Failed"})", {}, false},
      {"moved", 301, {}, "", {}, false},
  }));
  INFO(c.name);
  const auto failure = failure_of("POST /x", c.status, c.headers, c.body, now);
  REQUIRE(std::holds_alternative<Transient>(failure) == c.transient);
  if (!c.transient) return;
  CHECK(std::get<Transient>(failure).retry_after == c.wait);
}

TEST_CASE("A moved repository is followed, but the token goes to no other host") {
  const std::string api = "https://api.github.com";
  const std::string there = api + "/repositories/7/issues";
  for (const unsigned status : {301u, 302u, 307u, 308u})
    CHECK(moved_to(api, status, {{"location", there}}) == there);
  CHECK_FALSE(moved_to(api, 201, {{"location", there}}));
  CHECK_FALSE(moved_to(api, 301, {}));
  for (const char* other : {"https://api.github.com.evil.org/x", "http://api.github.com/x", "/x"})
    CHECK_FALSE(moved_to(api, 301, {{"location", other}}));
}

TEST_CASE("A failure repeats GitHub's words on one line") {
  const auto failure =
      failure_of("POST /x", 422, {},
                 R"({"message": "Validation\nFailed", "errors": [{"field": "title"}]})", now);
  CHECK(std::get<Permanent>(failure).what ==
        "GitHub answered 422 to POST /x: Validation Failed {\"field\":\"title\"}");
}

TEST_CASE("The next page is the link that says so") {
  CHECK(next_page("<https://a/x?page=1>; rel=\"prev\", <https://a/x?page=3>; rel=\"next\", "
                  "<https://a/x?page=9>; rel=\"last\"") == "https://a/x?page=3");
  CHECK_FALSE(next_page("<https://a/x?page=1>; rel=\"first\""));
  CHECK(next_page("<https://a/x?page=2>; rel=next") == "https://a/x?page=2");
  for (const char* broken : {"<broken; rel=\"next\"", "https://a; rel=\"next\"", "<https://a>",
                             "next", "<https://a>; rel=\"last\" <https://b>; rel=\"next\""})
    CHECK(next_page(broken) == "");
  CHECK_FALSE(next_page(""));
}

TEST_CASE("A query is percent-encoded") {
  CHECK(encoded("a b:\"ü\"~") == "a%20b%3A%22%C3%BC%22~");
}
