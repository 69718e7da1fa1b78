#include "bisect/git/nightly.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::git;

namespace {
const std::string main_sha = "0123456789abcdef0123456789abcdef01234567";
}

TEST_CASE("a nightly's message names its date and main's commit") {
  const auto release =
      parse_nightly_release("2026-08-20 nightly release (" + main_sha + ")\n\nmore");
  REQUIRE(release);
  CHECK(release->date == "2026-08-20");
  CHECK(release->main_commit.str() == main_sha);
}

TEST_CASE("a message that is not a nightly's is none") {
  const std::string message =
      GENERATE_COPY(std::string(), std::string("Tidy the docs (#12345)"),
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
