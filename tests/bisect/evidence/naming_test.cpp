#include "bisect/evidence/naming.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::evidence;

namespace {

bisect::Answer naming_steps(std::vector<std::pair<int, int>> cells,
                            bisect::SearchOutcome outcome = bisect::SearchOutcome::culprit) {
  bisect::Answer answer;
  answer.outcome = outcome;
  for (const auto& [first, last] : cells)
    answer.culprits.push_back({first, last, .99, 1.2, 1.1, 1.3});
  return answer;
}

NamedEnd only_end(int first, int last, const Naming& naming) {
  const auto ends = ends_of(naming_steps({{first, last}}), naming);
  REQUIRE(ends.size() == 1);
  return ends.front();
}

Sha256 state(char digit) {
  return *Sha256::parse(std::string(64, digit));
}

}  // namespace

TEST_CASE("neighbours that were tried are a culprit up to the limit, and a range beyond it") {
  using enum UntestableCause;
  Naming naming;
  for (int commit = 1; commit < 9; ++commit) naming.causes[commit] = does_not_compile;
  naming.causes[3] = does_not_import;
  naming.causes[4] = does_not_run;
  CHECK_FALSE(only_end(5, 5, naming).is_range);
  CHECK_FALSE(only_end(3, 5, naming).is_range);
  CHECK(only_end(2, 5, naming).is_range);
  naming.max_named = 1;
  CHECK(only_end(4, 5, naming).is_range);
  CHECK_FALSE(only_end(5, 5, naming).is_range);
}

TEST_CASE("one neighbour that nobody could try makes a range") {
  using enum UntestableCause;
  Naming naming;
  naming.causes = {{4, GENERATE(values({no_build_here, infrastructure}))}, {3, does_not_compile}};
  CHECK(only_end(3, 5, naming).is_range);
  CHECK(only_end(4, 5, naming).is_range);
  CHECK_FALSE(only_end(5, 5, naming).is_range);
  CHECK_FALSE(only_end(3, 3, naming).is_range);
}

TEST_CASE("an answer of ranges only is called so, and one that names nobody keeps its word") {
  using enum bisect::SearchOutcome;
  Naming naming;
  naming.causes[4] = UntestableCause::no_build_here;
  const auto word = [&](const bisect::Answer& answer) {
    return std::string(outcome_word(answer, ends_of(answer, naming)));
  };
  CHECK(word(naming_steps({{4, 5}})) == "range");
  CHECK(word(naming_steps({{4, 5}, {9, 9}})) == "culprit");
  CHECK(word(naming_steps({{9, 9}})) == "culprit");
  CHECK(word(naming_steps({}, not_reproduced)) == "not_reproduced");
  CHECK(word(naming_steps({}, inconclusive)) == "inconclusive");
}

TEST_CASE("several small steps with a range among them are one range that holds them all") {
  using enum bisect::SearchOutcome;
  Naming naming;
  CHECK(ends_of(naming_steps({{2, 2}, {9, 9}}, several_small), naming).size() == 2);
  naming.causes[8] = UntestableCause::no_build_here;
  const auto answer = naming_steps({{2, 2}, {8, 9}}, several_small);
  const auto ends = ends_of(answer, naming);
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].is_range);
  CHECK(ends[0].step.first == 2);
  CHECK(ends[0].step.last == 9);
  CHECK(ends[0].step.ratio == Approx(1.44));
  CHECK(ends[0].step.probability == Approx(.9801));
  CHECK(outcome_word(answer, ends) == "range");
}

TEST_CASE("a step between libraries of other headers is widened by the commits of those headers") {
  Naming naming;
  SECTION("below, a header commit was laid over and not compiled in") {
    naming.libraries = {{5, {state('a'), 3, 5}}, {6, {state('b'), 0, -1}}};
    const NamedEnd end = only_end(6, 6, naming);
    CHECK(end.is_range);
    CHECK(end.step.first == 3);
    CHECK(end.step.last == 6);
  }
  SECTION("above, the libraries have a later header already") {
    naming.libraries = {{5, {state('a'), 0, -1}}, {6, {state('b'), 7, 8}}};
    const NamedEnd end = only_end(6, 6, naming);
    CHECK(end.is_range);
    CHECK(end.step.first == 6);
    CHECK(end.step.last == 8);
  }
  SECTION("the same libraries on both sides: only the headers differ") {
    naming.libraries = {{5, {state('a'), 3, 5}}, {6, {state('a'), 3, 6}}};
    CHECK_FALSE(only_end(6, 6, naming).is_range);
  }
  SECTION("the headers of both sides are compiled in") {
    naming.libraries = {{5, {state('a'), 0, -1}}, {6, {state('b'), 0, -1}}};
    CHECK_FALSE(only_end(6, 6, naming).is_range);
  }
}
