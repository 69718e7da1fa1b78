#include "service/engine/outcome/leak_facts.hpp"

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;

namespace {

constexpr double grown_bytes = 2.5 * (1 << 20);

// The peak of alpha's memory grows by a tenth at the twentieth commit.
std::optional<ReportLeak> leak_of_night(NightWorld& world) {
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    const double usual = metric == "latency" ? .010 : 3e8;
    return usual * (workload == alpha_eval && metric != "latency" && position >= 20 ? 1.1 : 1);
  };
  two_nights(world);
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  EngineContext context = world.context();
  return leak_facts(context, reported.front());
}

}  // namespace

TEST_CASE("a peak that grew with each iteration is a leak, with its bytes an iteration") {
  NightWorld world;
  world.leaks = [](int position) { return position >= 20 ? grown_bytes : 0; };
  const auto leak = leak_of_night(world);
  REQUIRE(leak);
  CHECK(leak->metric == "leaked_memory");
  CHECK(leak->grown == Approx(grown_bytes).epsilon(.01));
  CHECK((leak->low > .9 * grown_bytes && leak->high < 1.1 * grown_bytes));
  const auto messages = storage::list_messages(world.db, {}).items;
  REQUIRE(messages.size() == 1);
  CHECK(messages.front().title.find("leak of 2.") != std::string::npos);
}

TEST_CASE("a peak that grew once is no leak, and neither is one whose slope nobody measured") {
  NightWorld grew, unmeasured;
  grew.leaks = [](int) { return 30e3; };  // the heap of any workload still finds its size
  CHECK_FALSE(leak_of_night(grew));
  CHECK_FALSE(leak_of_night(unmeasured));
}
