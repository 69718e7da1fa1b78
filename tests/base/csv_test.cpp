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

TEST_CASE("A line of more cells than are wanted ends in the rest of it") {
  std::vector<CsvLine> lines;
  csv_lines("a,b\nc,d,e,\"f,\"\n" + std::string(1 << 20, ','), 2,
            [&](const CsvLine& line) { lines.push_back(line); });
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == CsvLine{"a", "b"});
  CHECK(lines[1] == CsvLine{"c", "d", "e,f,"});
  CHECK(lines[2].size() == 3);
}
