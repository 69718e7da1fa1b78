#include "storage/model/address.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("an address is an http URL that tells no secret") {
  CHECK(Address::parse("https://index.test/simple//")->text() == "https://index.test/simple");
  CHECK(Address::parse("http://[::1]:80")->text() == "http://[::1]:80");
  const auto wrong = GENERATE(
      as<std::string>(), "", "index.test", "ftp://index.test", "https://", "https:///simple",
      "https://user@index.test", "https://user:secret@index.test/simple", "https://a.test/@b",
      "https://a.test/?token=secret", "https://a.test/#x", "https://a.test/ --index-url",
      "https://a.test/\n-e /tmp", "https://a.test:99999/", "https://a.test:80x/", "https://[::1",
      "https://a.test\\@b.test/", "https://a.test/\"x");
  CAPTURE(wrong);
  CHECK_FALSE(Address::parse(wrong));
}

TEST_CASE("an origin is scheme, host and port, however they are written") {
  CHECK(origin_of("HTTP://a.test") == std::nullopt);
  CHECK(origin_of("http://A.Test./x") == origin_of("http://a.test:80?y"));
  CHECK(origin_of("https://a.test") != origin_of("http://a.test"));
  CHECK(origin_of("https://a.test")->port == 443);
  CHECK(origin_of("http://[FE80::1]:8080/")->host == "fe80::1");
}

TEST_CASE("a URL whose host others could read in another way has no origin") {
  for (const char* url :
       {"http://a.test\\@b.test/", "http://a.test/\\@b.test/", "http://user:secret@a.test/",
        "http://a.test@b.test/", "http://a%2Etest/", "http://a.test\t/", "http://a.test /",
        "http://a.test/x\n", "http://a.test\x7F/", "http://\xC3\xA4.test/"}) {
    CAPTURE(url);
    CHECK_FALSE(origin_of(url));
  }
  CHECK(origin_of("http://a.test/\xC3\xA4%20b"));
}

TEST_CASE("a remote tells a secret by a password, or by any user of http") {
  CHECK(tells_secret("https://token@git.test/a"));
  CHECK(tells_secret("http://user:secret@git.test/a"));
  CHECK(tells_secret("ssh://git:secret@git.test/a"));
  CHECK(tells_secret("https://git.test/a?access_token=secret"));
  CHECK_FALSE(tells_secret("ssh://git@git.test/a"));
  CHECK_FALSE(tells_secret("git@git.test:a/b"));
  CHECK_FALSE(tells_secret("https://git.test/a@b"));
  CHECK_FALSE(tells_secret("/srv/a@b"));
}

TEST_CASE("a URL is shown without what may be secret") {
  CHECK(shown_url("https://user:secret@a.test/x?token=secret#y") == "https://a.test/x");
  CHECK(shown_url("https://a.test/x") == "https://a.test/x");
  CHECK(shown_url("no url") == "no url");
}
