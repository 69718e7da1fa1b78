#include "bisect/search/build_costs.hpp"

#include <limits>
#include <vector>

#include <catch2/catch.hpp>

using namespace nightjar::bisect;

namespace {

std::vector<PastBuild> several(int count, BuildPlace place, double seconds) {
  return std::vector<PastBuild>(static_cast<std::size_t>(count), {place, seconds});
}

}  // namespace

TEST_CASE("without past builds the usual times are expected") {
  const BuildSeconds usual = expected_build_seconds({});
  CHECK(usual.overlay < usual.fetch);
  CHECK(usual.fetch < usual.source_warm);
  CHECK(usual.source_warm < usual.source_cold);
  CHECK(usual.of(BuildPlace::source_cold) == usual.source_cold);
}

TEST_CASE("one build moves the expectation, many decide it") {
  const double before = expected_build_seconds({}).fetch;
  const double one = expected_build_seconds(several(1, BuildPlace::fetch, 8 * before)).fetch;
  CHECK(one == Approx(2 * before));
  const double many = expected_build_seconds(several(20, BuildPlace::fetch, 8 * before)).fetch;
  CHECK(many > 6.5 * before);
  CHECK(many < 8 * before);
}

TEST_CASE("one stalled download does not change what the next one is expected to take") {
  auto past = several(9, BuildPlace::fetch, 30);
  const double quiet = expected_build_seconds(past).fetch;
  past.push_back({BuildPlace::fetch, 7200});
  CHECK(expected_build_seconds(past).fetch == Approx(quiet).epsilon(.05));
}

TEST_CASE("only the newest builds count") {
  auto past = several(40, BuildPlace::overlay, 100);
  const auto later = several(20, BuildPlace::overlay, 5);
  past.insert(past.end(), later.begin(), later.end());
  CHECK(expected_build_seconds(past).overlay == Approx(5));
}

TEST_CASE("cold builds tell how slow the machine's warm builds will be, and not its downloads") {
  const BuildSeconds usual = expected_build_seconds({});
  const BuildSeconds slow =
      expected_build_seconds(several(18, BuildPlace::source_cold, 4 * usual.source_cold));
  CHECK(slow.source_warm > 3 * usual.source_warm);
  CHECK(slow.source_warm < slow.source_cold);
  CHECK(slow.fetch == usual.fetch);
}

TEST_CASE("a time that cannot be is refused") {
  for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(expected_build_seconds(several(1, BuildPlace::fetch, seconds)),
                    std::invalid_argument);
}
