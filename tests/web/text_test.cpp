#include "web/text.hpp"

#include <catch2/catch.hpp>

using namespace nightjar::web;

TEST_CASE("Targets are decoded segment by segment") {
  const auto target = parse_target("/a/b%2Fc/?x=1&y&x=2&z=%26");
  REQUIRE(target);
  CHECK(target->segments == std::vector<std::string>{"a", "b/c", ""});
  CHECK(target->path == "/a/b/c/");
  CHECK(target->query == std::map<std::string, std::string>{{"x", "2"}, {"y", ""}, {"z", "&"}});
  CHECK(parse_target("/?a+b=c+d")->query == std::map<std::string, std::string>{{"a b", "c d"}});
  CHECK(parse_target("/?&&x")->query == std::map<std::string, std::string>{{"x", ""}});
  CHECK(parse_target("https://host:1/p")->path == "/p");
  CHECK(parse_target("http://host")->path == "/");
  for (const auto* bad :
       {"", "a", "*", "/%", "/%4", "/%g0", "/a%00", "/?%", "/?a=%00", "/a b", "ftp://host/",
        "mailto:a@host", "http:/p", "http://", "http://user@host/", "http://a%2eb/"})
    CHECK_FALSE(parse_target(bad));
}

TEST_CASE("A range is a part of the file, the whole of it, or nothing that it has") {
  const auto part = [](std::string_view header, std::uint64_t size) {
    const auto range = parse_range(header, size);
    const auto* bytes = std::get_if<ByteRange>(&range);
    return bytes ? std::pair{bytes->first, bytes->last} : std::pair{std::uint64_t(99), size};
  };
  CHECK(part("bytes=0-0", 10) == std::pair<std::uint64_t, std::uint64_t>{0, 0});
  CHECK(part("bytes=3-100", 10) == std::pair<std::uint64_t, std::uint64_t>{3, 9});
  CHECK(part("bytes=-100", 10) == std::pair<std::uint64_t, std::uint64_t>{0, 9});
  for (const auto* whole :
       {"bytes=", "bytes=-", "bytes=5-3", "items=1-2", "bytes=1-2,3-4", "bytes=x-"})
    CHECK(std::holds_alternative<WholeFile>(parse_range(whole, 10)));
  for (const auto* none : {"bytes=10-", "bytes=-0"})
    CHECK(std::holds_alternative<NoSuchRange>(parse_range(none, 10)));
  CHECK(std::holds_alternative<NoSuchRange>(parse_range("bytes=0-", 0)));
}

TEST_CASE("Escapes are decoded, and a broken one or a hidden zero byte is refused") {
  CHECK(percent_decode("a%2Bb%2b+") == "a+b++");
  for (const auto* bad : {"a%2", "a%zz", "a%00b"}) CHECK_FALSE(percent_decode(bad));
}
