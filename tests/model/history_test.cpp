#include "storage/model/history.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("a release's version gives its numbers, and no other version does") {
  using Numbers = std::vector<int>;
  CHECK(release_in_version("2.9.1") == Numbers{2, 9, 1});
  CHECK(release_in_version("v2.10.0+cu130") == Numbers{2, 10, 0});
  CHECK(release_in_version("20260820.073000+2.9.1+cpu") == Numbers{2, 9, 1});
  CHECK(release_in_version("1.2.post3") == Numbers{1, 2, 3});
  for (const char* text :
       {"", "2.15.0.dev20260820+cpu", "2.15.0a0+git1234567", "2.9.0rc1", "2.9.0+git1234567",
        "20260820.073000", "20260820.073000+1234567", "20260820.073000+", "1234567", "2..9", "2.9.",
        "-2.9", "main", "99999999999.1"}) {
    INFO(text);
    CHECK_FALSE(release_in_version(text));
  }
}
