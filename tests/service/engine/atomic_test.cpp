// A daemon that is killed between any two commits goes on where it was: nothing is missing, nothing
// twice.
#include <set>
#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "storage/connection.hpp"
#include "storage/untold_findings.hpp"
#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;

namespace {

// From the `survives`-th commit of the engine on, a tick's commits fail until it is over: what is
// then stored is what a kill leaves. Afterwards all is well again.
struct KilledWorld : NightWorld {
  int commits_left;
  bool killed = false;

  explicit KilledWorld(int survives) : commits_left(survives) {
    noise = .005;
    config.night.session_workloads = 1;
    before_tick = [this] {
      if (!killed) sqlite3_commit_hook(db.impl().connection, &refuse, this);
    };
    after_tick = [this] { sqlite3_commit_hook(db.impl().connection, nullptr, nullptr); };
  }
  static int refuse(void* self) {
    auto& world = *static_cast<KilledWorld*>(self);
    if (world.commits_left-- > 0) return 0;
    world.killed = true;
    return 1;
  }
};

}  // namespace

TEST_CASE("a night that is killed while it is planned has all its jobs after a restart, once") {
  bool seen_planning = false;
  for (int survives = 0; survives < 8; ++survives) {
    INFO("killed after " << survives << " commits");
    KilledWorld world(survives);
    world.nightly("2026-08-19");
    world.tick_once();
    seen_planning |= world.killed;
    world.settle();
    const auto nights = storage::list_nights(world.db, {}).items;
    REQUIRE(nights.size() == 1);
    CHECK(nights[0].state == NightState::done);
    CHECK(nights[0].reason.empty());
    std::set<std::string> workloads;
    const auto jobs = storage::jobs_of_night(world.db, nights[0].id, JobKind::screen);
    for (const Job& job : jobs) workloads.insert(job.spec.workloads.at(0).name.str());
    CHECK(jobs.size() == 2);
    CHECK(workloads.size() == 2);
  }
  CHECK(seen_planning);
}

TEST_CASE(
    "a night that is killed anywhere between suspicion and report ends as if nothing had been") {
  bool over = false;
  int stories = 0;
  for (int survives = 5; !over; survives += 4) {
    INFO("killed after " << survives << " commits");
    KilledWorld world(survives);
    world.level = [](int position, const std::string& workload, const std::string& metric) {
      if (metric != "latency") return 3e8;
      return .010 * (workload == alpha_eval && position >= 4 ? 1.3 : 1);
    };
    world.nightly("2026-08-19");
    world.settle();
    world.grow(6);
    world.nightly("2026-08-20");
    world.settle();
    over = !world.killed;
    ++stories;
    const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].culprit->commits == std::vector{world.commits[4]});
    CHECK(storage::list_messages(world.db, {100, {}}).items.size() == 1);
    CHECK(storage::list_regressions(world.db, {}, {100, {}}).items.size() == 1);
    CHECK(storage::open_nights(world.db).empty());
  }
  CHECK(stories > 5);
}

TEST_CASE("what joins an issue is told once, wherever its night is killed") {
  bool over = false;
  int stories = 0;
  for (int survives = 0; !over; survives += 3) {
    INFO("killed after " << survives << " commits");
    KilledWorld world(1'000'000);
    const Runner other = world.enrol("other");
    world.others = {other};
    world.level = [](int position, const std::string& workload, const std::string& metric) {
      if (metric != "latency") return 3e8;
      return .010 * (workload == alpha_eval && position >= 4 ? 1.3 : 1);
    };
    world.nightly("2026-08-19");
    world.settle();
    world.others.clear();
    world.clock.advance(std::chrono::hours(20));
    world.grow(6);
    world.nightly("2026-08-20");
    world.settle();
    REQUIRE(storage::regressions_in_state(world.db, RegressionState::reported).size() == 1);
    world.others = {other};
    world.clock.advance(std::chrono::hours(20));
    world.grow(2);
    world.nightly("2026-08-21");
    world.commits_left = survives;
    world.settle();
    over = !world.killed;
    ++stories;
    REQUIRE(storage::regressions_in_state(world.db, RegressionState::merged).size() == 1);
    int comments = 0;
    for (const OutboxMessage& message : storage::list_messages(world.db, {100, {}}).items)
      comments += message.kind == OutboxKind::comment;
    CHECK(comments == 1);
    CHECK(storage::untold_findings(world.db).empty());
  }
  CHECK(stories > 5);
}
