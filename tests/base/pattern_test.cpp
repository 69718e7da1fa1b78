#include "storage/base/pattern.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("A pattern matches a whole text, or is searched for in it") {
  const Pattern pattern("([a-z]+)-([0-9]+)(!)?");
  CHECK(pattern.match("ab-12") == Groups{"ab-12", "ab", "12", ""});
  CHECK_FALSE(pattern.match("ab-12 "));
  CHECK(pattern.search("A ab-12! cd-3") == Groups{"ab-12!", "ab", "12", "!"});
  CHECK_FALSE(pattern.search("AB"));
  CHECK(pattern.replace_all("a-1, b-2", "<$2>") == "<1>, <2>");
}
