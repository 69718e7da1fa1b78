#include "storage/model/share.hpp"

#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("a share is written in percent or as a number under 1") {
  CHECK(parse_share("7%") == Approx(.07));
  CHECK(parse_share("0.07") == Approx(.07));
  CHECK(parse_share(".07") == Approx(.07));
  CHECK(parse_share("250%") == Approx(2.5));
  CHECK(parse_share("0.5%") == Approx(.005));
}

TEST_CASE("a percentage without its sign is refused with the question whether it was meant") {
  CHECK_THROWS_WITH(parse_share("7"), "'7' is no share; did you mean 7%?");
  CHECK_THROWS_WITH(parse_share("1"), "'1' is no share; did you mean 1%?");
  CHECK_THROWS_WITH(parse_share("12.5"), "'12.5' is no share; did you mean 12.5%?");
}

TEST_CASE("what is no share says how one is written") {
  for (const std::string text :
       {"", "%", "x", "7 %", "7%%", "0", "0%", "-7%", "nan", "inf", "inf%", "1000%", "7x"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_share(text),
                      Catch::Contains("'" + text + "' is no share; write 7% or 0.07"));
  }
}
