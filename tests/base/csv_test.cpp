#include "storage/base/csv.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("Cells are read with and without quotes, and empty lines are left out") {
  using Lines = std::vector<std::vector<std::string>>;
  CHECK(csv_lines("a,b\r\n\n,\n") == Lines{{"a", "b"}, {"", ""}});
  CHECK(csv_lines("\"a,\"\"b\"\"\",\"two\nlines\"\nlast") ==
        Lines{{"a,\"b\"", "two\nlines"}, {"last"}});
  CHECK(csv_lines("\"never closed,\na") == Lines{{"never closed,\na"}});
  CHECK(csv_lines("").empty());
}
