#include "service/cli/value_path.hpp"

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"

using namespace nightjar::cli;
using Catch::Contains;

TEST_CASE("a path leads to all numbers that it fits, and says how far it leads") {
  const auto root = nlohmann::json::parse(R"({"a": [{"b": 1, "c.d": [2, "3.5"]}, {"b": 4}],
      "e/f": 5, "text": "fast", "none": []})");
  CHECK(numbers_at(root, "a.0.b") == std::vector<double>{1});
  CHECK(numbers_at(root, "a[1].b") == std::vector<double>{4});
  CHECK(numbers_at(root, "$.a.*.b") == std::vector<double>{1, 4});
  CHECK(numbers_at(root, "/a/0/c.d") == std::vector<double>{2, 3.5});
  CHECK(numbers_at(root, "/e~1f") == std::vector<double>{5});
  CHECK_THROWS_WITH(numbers_at(root, "a.0.x"),
                    "nothing stands at 'x' below 'a.0'; there are: b, c.d");
  CHECK_THROWS_WITH(numbers_at(root, "a.2.b"), Contains("there is a list of 2"));
  CHECK_THROWS_WITH(numbers_at(root, "text"), Contains("no number but \"fast\""));
  CHECK_THROWS_WITH(numbers_at(root, "none"), Contains("is empty"));
  for (const char* path : {"", "a..b", "/", ".a"})
    CHECK_THROWS_WITH(path_steps(path), Contains("empty step"));
}
