// What is named when a search cannot, or need not, exclude everything else.
#include <catch2/catch.hpp>

#include "tests/support/search_world.hpp"

using namespace nightjar;
using namespace nightjar::bisect;
using test::World;
using test::WorldOptions;

namespace {

struct Ended {
  World world;
  test::JobResult result;
  std::string rule;
};

Ended ended(const WorldOptions& options, std::uint64_t seed, const SearchPolicy& policy) {
  World world(options, seed);
  SearchLog log;
  const auto result = test::search(world, options.commits, policy, &log);
  return {world, result, std::get<Answer>(next_step(log, policy).step).rule};
}

}  // namespace

TEST_CASE("the budget ends a search that cannot decide") {
  WorldOptions options;
  options.cv = .1;
  options.planted = {{50, .07}};
  SearchPolicy policy;
  policy.max_runs = 40;
  const Ended end = ended(options, 4, policy);
  CHECK(end.result.blamed.empty());
  CHECK(end.result.inconclusive);
  CHECK(end.result.runs == policy.max_runs);
}

TEST_CASE(
    "a certain and confirmed culprit is named at the end of the budget, though another is open") {
  WorldOptions options;
  options.cv = .1;
  options.planted = {{30, .25}, {70, .08}};
  SearchPolicy policy;
  policy.max_runs = 250;
  int named_the_first = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Ended end = ended(options, seed, policy);
    if (end.rule.find("budget") == std::string::npos) continue;
    CHECK(end.result.runs == policy.max_runs);
    if (end.result.blamed.empty()) continue;
    CHECK(end.result.blamed == std::vector{end.world.cell(30)});
    ++named_the_first;
  }
  CHECK(named_the_first >= 3);
}

TEST_CASE("a culprit that is certain does not wait for a doubt that layout keeps up") {
  WorldOptions options;
  options.layout_sd = .01;
  SearchPolicy policy;
  policy.max_runs = 3000;
  int longest = 0, exact = 0, nobody = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const int place = 10 + static_cast<int>(2 * seed);
    options.planted = {{place, .07}};
    const Ended end = ended(options, seed, policy);
    exact += end.result.blamed == std::vector{end.world.cell(place)};
    // Layouts alone can bring what builds differ by well under the threshold.
    nobody +=
        end.rule.find("below the threshold") != std::string::npos && end.result.blamed.empty();
    longest = std::max(longest, end.result.runs);
  }
  CHECK(exact >= 36);
  CHECK(exact + nobody == 40);
  CHECK(longest < 600);
}

TEST_CASE(
    "a certain culprit does not wait for a second step that fresh runs neither confirm nor "
    "refute") {
  for (const std::uint64_t job : {93u, 226u}) {  // took 3000 and 1773 runs
    std::mt19937_64 random(0x9e3779b97f4a7c15ULL + job);
    WorldOptions options;
    options.layout_sd = .01;
    const int place = 1 + static_cast<int>(random() % 100);
    options.planted = {{place, .07}};
    SearchPolicy policy;
    policy.max_runs = 3000;
    const Ended end = ended(options, random(), policy);
    CAPTURE(job, end.result.runs, end.rule);
    CHECK(end.result.runs < 900);
    CHECK(end.result.blamed == std::vector{end.world.cell(place)});
    CHECK(end.rule.find("neither confirmed nor excluded") != std::string::npos);
  }
}
