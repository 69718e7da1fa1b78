#include "storage/base/split.hpp"

#include <catch2/catch.hpp>

using nightjar::split_at;

TEST_CASE("a text is split at each separator, and empty parts count") {
  using Parts = std::vector<std::string>;
  CHECK(split_at("a,b,c", ',') == Parts{"a", "b", "c"});
  CHECK(split_at(",a,", ',') == Parts{"", "a", ""});
  CHECK(split_at("a.b", ',') == Parts{"a.b"});
  CHECK(split_at("", ',') == Parts{""});
}
