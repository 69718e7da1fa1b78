#include "storage/base/text_table.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("Columns without a text are left out of a table on a terminal") {
  const TextTable table{{"a", "empty", "n"}, {{"x", "", "10"}, {"longer", "", "5"}}, 2};
  CHECK(table_text(table, false) == "a        n\nx       10\nlonger   5\n");
  CHECK(table_text(table, true).starts_with("| a      | empty |  n |\n|---|---|---:|\n"));
}

TEST_CASE("Empty columns stay where a table asks for that, and a character counts once") {
  const TextTable table{{"a", "empty", "n"}, {{"x", "", "1 ±2"}, {"±", "", "10 ±20"}}, 1, true};
  CHECK(table_text(table, false) == "a  empty       n\nx           1 ±2\n±         10 ±20\n");
}
