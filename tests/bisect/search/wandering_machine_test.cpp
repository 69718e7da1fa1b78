// A recorded search on a machine that became slower while a step was being confirmed: behind a step
// of 15 times, another one was named between two commits that differ in a header which the measured
// program does not include.
#include <catch2/catch.hpp>

#include "tests/bisect/search/recorded.hpp"

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

const std::vector<SearchRun> wandering = {
    {0, 0, 0.0283},    {0, 280, 0.5512},  {0, 0, 0.02826},   {0, 280, 0.5509},  {0, 0, 0.0275},
    {0, 280, 0.5504},  {0, 0, 0.02778},   {0, 280, 0.564},   {0, 0, 0.02814},   {0, 280, 0.5233},
    {1, 140, 0.6704},  {2, 70, 0.5623},   {3, 35, 0.02817},  {4, 53, 0.5651},   {5, 44, 0.542},
    {6, 39, 0.5174},   {7, 37, 0.03517},  {8, 38, 0.513},    {9, 37, 0.03652},  {9, 38, 0.5317},
    {9, 38, 0.538},    {9, 37, 0.03576},  {9, 37, 0.03508},  {9, 38, 0.5548},   {10, 36, 0.03549},
    {11, 35, 0.03063}, {11, 36, 0.03793}, {11, 36, 0.03913}, {11, 35, 0.03345}, {11, 35, 0.03561},
    {11, 36, 0.03468},
};

}  // namespace

TEST_CASE("Runs that scatter more than before confirm no step that is within their scatter") {
  CHECK_FALSE(test::names(test::next_of_recorded(280, wandering), 36));
}
