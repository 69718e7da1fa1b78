#include "storage/text_map.hpp"

#include <catch2/catch.hpp>

using namespace nightjar::storage;

TEST_CASE("maps and lists of words come back as they went") {
  const TextMap map = {{"a", "1"}, {"quote\"", "line\nbreak"}, {"", ""}};
  CHECK(map_from_text(to_text(map)) == map);
  const std::vector<std::string> list = {"b", "a", "\xc3\xa9"};
  CHECK(list_from_text(to_text(list)) == list);
  CHECK(to_text(TextMap{}) == "{}");
  CHECK(to_text(std::vector<std::string>{}) == "[]");
}
