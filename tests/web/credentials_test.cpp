#include "web/credentials.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::web;
using Catch::Contains;

TEST_CASE("logins are read as .netrc has them, and are of one host") {
  const auto all = Credentials::parse(
      "# of the lab\nmachine Index.test login reader password hush\n"
      "machine index.test:8443\n  login other\n  password more\n",
      "credentials");
  REQUIRE(all.find(*origin_of("https://index.test/simple")));
  CHECK(all.find(*origin_of("https://index.test/simple"))->password == "hush");
  CHECK_FALSE(all.find(*origin_of("https://sub.index.test")));
  CHECK(basic_authorization({"reader", "hush"}) == "Basic cmVhZGVyOmh1c2g=");
}

TEST_CASE("credentials that cannot be read are refused by their line, and not repeated") {
  const auto text =
      GENERATE(as<std::string>(), "login hush\n", "machine a\nlogin b\npassword\n",
               "machine a login b hush\n", "default login hush password hush\n", "macdef hush\n");
  CAPTURE(text);
  CHECK_THROWS_WITH(Credentials::parse(text, "file"), Contains("file:") && !Contains("hush"));
}
