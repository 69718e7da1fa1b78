// Where the ends of a change have different packages: is it theirs or the source's?
#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "service/builds/lock.hpp"
#include "storage/bisections.hpp"
#include "storage/locks.hpp"
#include "tests/service/engine/locked_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using service::test::alpha_eval;
using service::test::LockedWorld;

namespace {

// Two nightlies that are installed with different versions of sympy. Alpha's latency steps at a
// commit of the range, with the new packages, or with both.
struct PackageWorld : LockedWorld {
  double source = 1, environment = 1;
  bool old_runs_with_new = true, new_runs_with_old = true;
  std::set<Sha256> searched_with;  // locks of the search's sessions

  PackageWorld(double with_source, double with_environment)
      : LockedWorld(lock_with({{"numpy", "2.1.0"}, {"sympy", "1.13.3"}}),
                    lock_with({{"numpy", "2.1.0"}, {"sympy", "1.14.0"}})),
        source(with_source),
        environment(with_environment) {
    level = [this](int position, const std::string& workload, const std::string& metric) {
      if (metric != "latency") return 3e8;
      return .010 * (workload == alpha_eval && position >= 17 ? source : 1);
    };
    of_packages = [this](const EnvironmentSpec& spec, const std::string& workload) {
      if (measuring->spec.kind == JobKind::bisect) searched_with.insert(spec.lock->sha256);
      return workload == alpha_eval && spec.lock->sha256 == after.sha256 ? environment : 1;
    };
    installs = [this](const EnvironmentSpec& spec) {
      const bool old = storage::find_build(db, spec.build)->commit == commits.front();
      const bool with_new = spec.lock->sha256 == after.sha256;
      return old ? !with_new || old_runs_with_new : with_new || new_runs_with_old;
    };
  }
};

}  // namespace

TEST_CASE("packages that slow a workload down are named, and no commit is searched for") {
  PackageWorld world(1, 1.15);
  world.pass();
  const Regression found = world.only();
  CHECK(found.state == RegressionState::reported);
  CHECK_FALSE(found.culprit);
  CHECK_FALSE(storage::bisection_of(world.db, found.id));
  const auto whose = storage::attribution_of(world.db, found.id);
  REQUIRE(whose);
  CHECK(whose->cause == Cause::environment);
  CHECK(whose->environment->low < 1.15);
  CHECK(whose->environment->high > 1.15);
  CHECK(whose->source.low < 1);
  CHECK(whose->source.high > 1);
  const OutboxMessage issue = world.issue();
  CHECK_THAT(issue.title, Contains("by sympy 1.13.3 → 1.14.0"));
  CHECK_THAT(issue.body, Contains("the packages did it, not the source: sympy 1.13.3 → 1.14.0"));
  CHECK_THAT(issue.body, Contains("Each wheel was measured with both sets of packages, in turns."));
  CHECK_THAT(issue.body, !Contains("revert"));
}

TEST_CASE("a commit is found where the packages differ too, all measured with the good end's") {
  PackageWorld world(1.15, 1);
  world.pass();
  const Regression found = world.only();
  CHECK(found.state == RegressionState::reported);
  REQUIRE(found.culprit);
  CHECK(found.culprit->commits == std::vector{world.commits[17]});
  CHECK(storage::attribution_of(world.db, found.id)->cause == Cause::source);
  CHECK(world.searched_with == std::set{world.before.sha256});
  CHECK_THAT(world.issue().body, Contains("The source changes it by +1"));
}

TEST_CASE("where both did it, the commit is named for its own part") {
  PackageWorld world(1.2, 1.2);
  world.pass();
  const Regression found = world.only();
  REQUIRE(found.culprit);
  CHECK(found.culprit->commits == std::vector{world.commits[17]});
  CHECK(found.culprit->ratio == Approx(1.2).epsilon(.02));
  const auto whose = storage::attribution_of(world.db, found.id);
  CHECK(whose->cause == Cause::both);
  CHECK(whose->environment->ratio == Approx(1.2).epsilon(.02));
}

TEST_CASE("one wheel that does not run with the other's packages is left out") {
  PackageWorld world(1, 1.15);
  world.new_runs_with_old = false;
  world.pass();
  const auto whose = storage::attribution_of(world.db, world.only().id);
  REQUIRE(whose);
  CHECK(whose->cause == Cause::environment);
  CHECK_FALSE(whose->held);
  const auto reason = storage::changes_of(world.db, world.only().id);
  CHECK(std::any_of(reason.begin(), reason.end(), [](const RegressionChange& change) {
    return change.evidence.text.find("the new build does not run with the old packages") !=
           std::string::npos;
  }));
}

TEST_CASE("where neither wheel runs with the other's packages nobody is blamed") {
  PackageWorld world(1.15, 1);
  world.new_runs_with_old = world.old_runs_with_new = false;
  world.pass();
  const Regression found = world.only();
  CHECK(found.state == RegressionState::reported);
  CHECK_FALSE(found.culprit);
  CHECK(storage::attribution_of(world.db, found.id)->cause == Cause::unknown);
  CHECK_THAT(world.issue().body, Contains("neither build runs with the other"));
}

TEST_CASE("builds with the same packages are confirmed as ever") {
  PackageWorld world(1.15, 1.5);
  world.after = world.before;
  world.environment = 1;
  world.pass();
  const Regression found = world.only();
  REQUIRE(found.culprit);
  CHECK_FALSE(storage::attribution_of(world.db, found.id)->environment);
}

namespace {

// Two nightlies with different packages, between which alpha begins to crash: by the wheel, by the
// packages, or by both together.
struct FailingWorld : PackageWorld {
  bool by_source = false, by_packages = false, only_together = false;

  FailingWorld() : PackageWorld(1, 1) {
    crashes_with = [this](const EnvironmentSpec& spec, const std::string& workload) {
      const bool new_wheel = position(*storage::find_build(db, spec.build)->commit) >= 17;
      const bool new_packages = spec.lock->sha256 == after.sha256;
      if (workload != alpha_eval) return false;
      if (only_together) return new_wheel && new_packages;
      return (by_source && new_wheel) || (by_packages && new_packages);
    };
  }
  std::string metric() { return storage::find_series(db, only().series.front().series)->metric; }
};

}  // namespace

TEST_CASE("a failure that the packages brought is theirs, and no commit is searched for") {
  FailingWorld world;
  world.by_packages = true;
  world.pass();
  const Regression found = world.only();
  CHECK(world.metric() == "failures");
  CHECK(found.state == RegressionState::reported);
  CHECK_FALSE(found.culprit);
  CHECK_FALSE(storage::bisection_of(world.db, found.id));
  CHECK(storage::attribution_of(world.db, found.id)->cause == Cause::environment);
  CHECK_THAT(world.issue().title, Contains("alpha eval: crashes"));
  CHECK_THAT(world.issue().body,
             Contains("the packages did it, not the source: sympy 1.13.3 → 1.14.0"));
}

TEST_CASE("a failure of the source is searched for with the good end's packages") {
  FailingWorld world;
  world.by_source = true;
  world.pass();
  const Regression found = world.only();
  CHECK(found.state == RegressionState::reported);
  REQUIRE(found.culprit);
  CHECK(found.culprit->commits == std::vector{world.commits[17]});
  CHECK(storage::attribution_of(world.db, found.id)->cause == Cause::source);
  CHECK(world.searched_with == std::set{world.before.sha256});
}

TEST_CASE("a wheel that cannot be imported with the other's packages says nothing of a crash") {
  FailingWorld world;
  world.by_packages = true;
  world.new_runs_with_old = false;
  world.pass();
  CHECK(storage::attribution_of(world.db, world.only().id)->cause == Cause::environment);

  FailingWorld neither;
  neither.by_source = true;
  neither.new_runs_with_old = neither.old_runs_with_new = false;
  neither.pass();
  const Regression found = neither.only();
  CHECK(found.state == RegressionState::reported);
  CHECK_FALSE(found.culprit);
  CHECK(storage::attribution_of(neither.db, found.id)->cause == Cause::unknown);
}

TEST_CASE("a failure that needs the new wheel and the new packages blames nobody") {
  FailingWorld world;
  world.only_together = true;
  world.pass();
  const Regression found = world.only();
  CHECK(found.state == RegressionState::reported);
  CHECK_FALSE(found.culprit);
  CHECK(storage::attribution_of(world.db, found.id)->cause == Cause::unknown);
}
