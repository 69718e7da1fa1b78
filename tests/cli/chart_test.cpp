#include "service/cli/chart.hpp"

#include <catch2/catch.hpp>

using nightjar::bisect::Belief;
using nightjar::cli::chart_lines;
using nightjar::cli::chart_text;

namespace {

const std::vector<std::string> commits{"good", "a1", "b2", "c3", "d4", "e5"};

Belief belief() {
  Belief out;
  out.nothing = .04;
  out.too_small = .01;
  out.cells = {{1, 1, .95}, {3, 5, .60}, {2, 2, .10}};
  out.expected_runs = 12.4;
  return out;
}

}  // namespace

TEST_CASE("a chart has a line for each cell and one for nobody") {
  const auto lines = chart_lines(belief(), 34, commits, 10);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "34 runs, some 12 to go");
  CHECK(lines[1].find("a1 ") != std::string::npos);
  CHECK(lines[2].find("c3 and 2 after it ") != std::string::npos);
  CHECK(lines[2].find(" ██████ 60 %") != std::string::npos);
  CHECK(lines[4].find("nobody") != std::string::npos);
  CHECK(lines[4].find("5 %") != std::string::npos);
}

TEST_CASE("a line of progress names every cell that may well hold a step") {
  CHECK(chart_text(belief(), 34, commits) ==
        "34 runs, some 12 to go; a1: 95 %; c3 and 2 after it: 60 %");
  Belief early;
  early.cells = {{1, 5, .15}};
  CHECK(chart_text(early, 10, commits) == "10 runs; a1 and 4 after it: 15 %");
  CHECK(chart_text(Belief{}, 0, commits) == "0 runs");
}
