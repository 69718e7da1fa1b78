#include "storage/model/id.hpp"

#include <type_traits>
#include <unordered_set>

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("ids of different things cannot be mixed up") {
  CHECK_FALSE(std::is_convertible_v<BuildId, JobId>);
  CHECK_FALSE(std::is_constructible_v<std::unordered_set<BuildId>::key_type, JobId>);
  CHECK(std::unordered_set<BuildId>{{1}, {2}, {1}}.size() == 2);
}

TEST_CASE("an id of 0 is none") {
  CHECK_FALSE(BuildId{});
  CHECK(BuildId{7});
  CHECK(BuildId{7} < BuildId{8});
}
