#include "storage/base/pattern.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("A pattern matches a whole text, or is searched for in it") {
  const Pattern pattern("([a-z]+)-([0-9]+)(!)?");
  CHECK(pattern.match("ab-12") == Groups{"ab-12", "ab", "12", ""});
  CHECK_FALSE(pattern.match("ab-12 "));
  CHECK(pattern.search("A ab-12! cd-3") == Groups{"ab-12!", "ab", "12", "!"});
  CHECK_FALSE(pattern.search("AB"));
}

TEST_CASE("A long text takes a pattern no stack and linear time") {
  const std::string much(5'000'000, 'x');
  CHECK(Pattern("(x|y)*z").match(much + "z"));
  CHECK_FALSE(Pattern("(x+x+)+y").search(much));
  CHECK_FALSE(Pattern("[^/@ ]+@").search("://" + much));
}

TEST_CASE("A character is a byte, or one of UTF-8") {
  CHECK(
      Pattern("a.c").match("a\xe9"
                           "c"));
  CHECK_FALSE(Pattern("a.c").match("aéc"));
  CHECK(Pattern("a.c", Characters::utf8).match("aéc"));
  CHECK_FALSE(Pattern("a.c", Characters::utf8)
                  .match("a\xe9"
                         "c"));
}

TEST_CASE("What is no pattern says why") {
  CHECK_THROWS_WITH(Pattern("(a"), Catch::Contains("(a") && Catch::Contains("missing )"));
}
