#include "service/cli/benchmarks.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::cli;

namespace {

MeasuredValue number(const std::string& name, double value) {
  MeasuredValue out;
  out.name = name;
  out.value = value;
  return out;
}

}  // namespace

TEST_CASE(
    "a benchmark that is followed later is measured where a kept search had not followed it") {
  BisectOptions options;
  options.followed = {{"a", ""}, {"b", ""}};
  Benchmarks benchmarks(10, {}, options);
  SavedSearch kept;
  for (const int commit : {0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 5, 5})
    kept.runs.push_back({0, commit, {1.0}});
  kept.parts = {{{"a", ""}, 0, 0}};
  benchmarks.restore(kept);
  REQUIRE(benchmarks.subjects().size() == 2);
  CHECK(benchmarks.take(1, 5, {number("a", 1), number("c", 1), number("b", 2)}).empty());
  CHECK(benchmarks.subjects().size() == 2);  // "c" is not followed
  const auto& parts = benchmarks.shared().parts();
  CHECK(parts[0].log.runs.size() == 13);
  CHECK(parts[1].log.runs.size() == 1);
  // What was not followed was not lost.
  CHECK(parts[1].log.untestable.empty());
  CHECK(benchmarks.left_out(1).empty());
  CHECK(benchmarks.take(1, 5, {number("c", 1)}) == "has no number of a benchmark that is followed");
}
