#include "bisect/git/nightly.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::git;

namespace {
const std::string main_sha = "0123456789abcdef0123456789abcdef01234567";
}

TEST_CASE("a nightly's message names its date and main's commit") {
  const auto release = parse_nightly_release("2026-08-20 nightly release (" + main_sha + ")\n\nmore");
  REQUIRE(release);
  CHECK(release->date == "2026-08-20");
  CHECK(release->main_commit.str() == main_sha);
}

TEST_CASE("a message that is not a nightly's is none") {
  const std::string message = GENERATE_COPY(
      std::string(), std::string("Tidy the docs (#12345)"),
      "2026-08-20 nightly release (" + main_sha.substr(1) + ")",
      "2026-08-20 nightly release (" + main_sha + "0)",
      "2026-08-20 nightly release (" + main_sha.substr(1) + "g)",
      "2026-13-20 nightly release (" + main_sha + ")",
      "2026-02-30 nightly release (" + main_sha + ")",
      "2026-08-2x nightly release (" + main_sha + ")",
      "2026-08-20 weekly  release (" + main_sha + ")",
      "Revert 2026-08-20 nightly release (" + main_sha + ")");
  CAPTURE(message);
  CHECK_FALSE(parse_nightly_release(message));
}

TEST_CASE("the pull request's number is read from the subject") {
  using Case = std::pair<std::string, std::optional<std::int64_t>>;
  const auto [subject, expected] = GENERATE(
      Case{"Tidy the docs (#12345)", 12345}, Case{"[fx] Name (#1) twice (#186012)", 186012},
      Case{"Revert \"Name it (#17)\"", 17}, Case{"Revert \"Name it (#17)\" (#18)", 18},
      Case{"Reset (#12345", std::nullopt}, Case{"See #12345", std::nullopt},
      Case{"Take (#9) then (#x)", 9}, Case{"(#)", std::nullopt},
      Case{"Overflow (#99999999999999999999)", std::nullopt}, Case{"", std::nullopt});
  CAPTURE(subject);
  CHECK(pull_request_number(subject) == expected);
}
