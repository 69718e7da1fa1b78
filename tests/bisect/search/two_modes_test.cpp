// A recorded search in which one binary ran in about 143 or about 206 microseconds, whichever mode
// a process fell into, often the same one several times in a row: behind a step of 20 times,
// another step was named between two commits whose binaries are the same, byte by byte.
#include <catch2/catch.hpp>

#include "tests/bisect/search/recorded.hpp"

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

const std::vector<SearchRun> two_modes = {
    {0, 0, 7.674},    {0, 280, 211.3},  {0, 0, 7.484},    {0, 280, 204.3},  {0, 0, 7.704},
    {0, 280, 210.9},  {0, 0, 7.384},    {0, 280, 206.1},  {0, 0, 7.263},    {0, 280, 203.9},
    {1, 140, 143.3},  {2, 70, 145},     {3, 35, 6.482},   {4, 52, 201.5},   {5, 43, 148.5},
    {6, 39, 152.7},   {7, 37, 6.482},   {8, 38, 146.4},   {9, 210, 149},    {10, 245, 143.4},
    {11, 263, 148},   {12, 271, 143},   {13, 275, 205},   {14, 273, 148.3}, {15, 274, 143.7},
    {16, 37, 7.574},  {16, 38, 150.9},  {16, 274, 214.1}, {16, 275, 221.6}, {16, 38, 238.1},
    {16, 37, 12.63},  {16, 275, 219.6}, {16, 274, 215.9}, {16, 37, 8.286},  {16, 38, 208.8},
    {16, 274, 213.6}, {16, 275, 201.3}, {16, 273, 200.7}, {16, 274, 206.5}, {16, 274, 206.1},
    {16, 273, 224.4}, {16, 273, 206.2}, {16, 274, 206.3}, {17, 272, 199},   {18, 271, 143.9},
    {18, 272, 144},   {18, 272, 143.3}, {18, 271, 143.8}, {18, 271, 143.2}, {18, 272, 147.9},
    {18, 272, 143.1}, {18, 273, 151},   {18, 273, 143.9}, {18, 272, 196.8}, {18, 272, 211.6},
    {18, 273, 143.8},
};

}  // namespace

TEST_CASE("Two modes of one binary are not a further culprit") {
  const NextStep next = test::next_of_recorded(280, two_modes);
  const auto* answer = std::get_if<Answer>(&next.step);
  const bool blames_both = answer && answer->culprits.size() > 1;
  CHECK_FALSE(blames_both);
  CHECK_FALSE(test::names(next, 274));
}
