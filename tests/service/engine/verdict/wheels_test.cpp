// Two nightlies of one native group have two wheels: is a change the wheel's or the source's?
#include <set>

#include <catch2/catch.hpp>

#include "storage/bisections.hpp"
#include "storage/locks.hpp"
#include "storage/provenance.hpp"
#include "tests/service/engine/locked_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using service::test::alpha_eval;
using service::test::LockedWorld;

namespace {

// Alpha's latency steps at a commit of the range, with the second night's wheel, with the new
// packages, or with several of them.
struct WheelWorld : LockedWorld {
  double source = 1, wheel = 1, packages = 1;
  std::set<BuildId> searched_on;  // wheels of the search's sessions
  std::set<BuildId> confirmed_on;

  explicit WheelWorld(double with_source, double with_wheel, double with_packages = 1)
      : LockedWorld(lock_with({{"sympy", "1.13.3"}}),
                    lock_with({{"sympy", with_packages == 1 ? "1.13.3" : "1.14.0"}})),
        source(with_source),
        wheel(with_wheel),
        packages(with_packages) {
    level = [this](int position, const std::string& workload, const std::string& metric) {
      if (metric != "latency") return 3e8;
      return .010 * (workload == alpha_eval && position >= 17 ? source : 1);
    };
    of_packages = [this](const EnvironmentSpec& spec, const std::string& workload) {
      const BuildId under = wheel_under(spec);
      if (measuring->spec.kind == JobKind::bisect) searched_on.insert(under);
      if (measuring->spec.kind == JobKind::confirm) confirmed_on.insert(spec.build);
      if (workload != alpha_eval) return 1.;
      return (is_new(under) ? wheel : 1) * (spec.lock->sha256 == after.sha256 ? packages : 1);
    };
  }

  BuildId wheel_under(const EnvironmentSpec& spec) const {
    const auto build = storage::find_build(db, spec.build);
    return build->base.value_or(build->id);
  }
  bool is_new(BuildId wheel_id) const {
    return storage::find_build(db, wheel_id)->date == "2026-08-20";
  }
  Attribution whose() {
    const auto found = storage::attribution_of(db, only().id);
    REQUIRE(found);
    return *found;
  }
  std::set<BuildId> wheel_of(const std::string& date) {
    for (const Build& build : storage::proved_wheels(db, "cpu"))
      if (build.date == date) return {build.id};
    return {};
  }
};

void check_named(WheelWorld& world, double ratio) {
  const Regression found = world.only();
  CHECK(found.state == RegressionState::reported);
  REQUIRE(found.culprit);
  CHECK(found.culprit->commits == std::vector{world.commits[17]});
  CHECK(found.culprit->ratio == Approx(ratio).epsilon(.02));
  CHECK(world.searched_on == world.wheel_of("2026-08-19"));
}

}  // namespace

TEST_CASE("a wheel that is slower by itself is named, and no commit is searched for") {
  WheelWorld world(1, 1.25);
  world.night("2026-08-19", world.before);
  world.grow(24);
  const Build good = storage::proved_wheels(world.db, "cpu").front();
  storage::add_provenance(storage::Autocommit(world.db), Provenance{*good.sha256, "setuptools"});
  world.night("2026-08-20", world.after);
  const Regression found = world.only();
  CHECK(found.state == RegressionState::reported);
  CHECK_FALSE(found.culprit);
  CHECK_FALSE(storage::bisection_of(world.db, found.id));
  CHECK(world.whose().cause == Cause::wheel);
  CHECK_FALSE(world.whose().environment);
  CHECK(world.whose().wheel->low < 1.25);
  CHECK(world.whose().wheel->high > 1.25);
  CHECK(world.whose().source.low < 1);
  CHECK(world.whose().source.high > 1);
  const OutboxMessage issue = world.issue();
  CHECK_THAT(issue.title, Contains("alpha eval: latency +26 % with the wheel of"));
  CHECK_THAT(issue.body, Contains("the wheel changed it, not a commit"));
  CHECK_THAT(issue.body,
             Contains("Each end's Python files were measured on both wheels, in turns"));
  CHECK_THAT(issue.body, Contains("- how the new wheel was made is not known"));
  CHECK_THAT(issue.body, Contains("torch.__config__.show()"));
  CHECK_THAT(issue.body, !Contains("revert"));
}

TEST_CASE("a commit of the range is found on one wheel, whatever the new wheel does") {
  for (const double wheel : {1., 1.2}) {
    INFO(wheel);
    WheelWorld world(1.2, wheel);
    world.pass();
    check_named(world, 1.2);
    CHECK(world.whose().cause == (wheel == 1 ? Cause::source : Cause::source_and_wheel));
  }
}

TEST_CASE("a faster wheel does not hide how slow a commit is") {
  WheelWorld world(1.3, .9);
  world.pass();
  check_named(world, 1.3);
  CHECK(world.whose().source.ratio == Approx(1.3).epsilon(.02));
  CHECK(world.whose().wheel->ratio == Approx(.9).epsilon(.02));
  CHECK(world.whose().cause == Cause::source);
}

TEST_CASE("where no file of the source differs all is the wheel's, and nothing is laid over") {
  WheelWorld world(1, 1.25);
  world.night("2026-08-19", world.before);
  world.commits.push_back(
      world.graph.commit("main", "Explain it", {{"docs/source/index.md", "better"}}));
  world.night("2026-08-20", world.after);
  CHECK(world.whose().cause == Cause::wheel);
  CHECK(world.confirmed_on.size() == 2);
  CHECK_THAT(world.issue().body, Contains("the wheel changed it: no file of the source differs"));
}

TEST_CASE("a wheel that makes a workload fail is told from a commit that does") {
  for (const bool by_wheel : {true, false}) {
    INFO(by_wheel);
    WheelWorld world(1, 1);
    world.crashes_with = [&](const EnvironmentSpec& spec, const std::string& workload) {
      const auto build = storage::find_build(world.db, spec.build);
      return workload == alpha_eval && (by_wheel ? world.is_new(world.wheel_under(spec))
                                                 : world.position(*build->commit) >= 17);
    };
    world.pass();
    const Regression found = world.only();
    CHECK(found.state == RegressionState::reported);
    CHECK(found.culprit.has_value() != by_wheel);
    CHECK(world.whose().cause == (by_wheel ? Cause::wheel : Cause::source));
  }
}

TEST_CASE("a native commit in between leaves nothing to lay over, so that nothing is crossed") {
  WheelWorld world(1.2, 1);
  world.night("2026-08-19", world.before);
  world.grow(20);
  world.commits.push_back(world.graph.commit("main", "Compile", {{"torch/csrc/unit.cpp", "1"}}));
  world.grow(3);
  world.night("2026-08-20", world.after);
  CHECK_FALSE(storage::attribution_of(world.db, world.only().id));
  CHECK(world.confirmed_on.size() == 2);
}

TEST_CASE("packages, wheel and source are told apart, and each has its part") {
  SECTION("the source alone is searched on the good wheel, with the good packages") {
    WheelWorld world(1.2, 1.2, 1.2);
    world.pass();
    check_named(world, 1.2);
    CHECK(world.whose().cause == Cause::all_three);
    CHECK(world.whose().environment->ratio == Approx(1.2).epsilon(.02));
    CHECK(world.whose().wheel->ratio == Approx(1.2).epsilon(.02));
    CHECK_THAT(world.issue().body, Contains("the packages by +20"));
    CHECK_THAT(world.issue().body, Contains("the wheel by +20"));
  }
  SECTION("packages and wheel together leave no commit to search for") {
    WheelWorld world(1, 1.2, 1.2);
    world.pass();
    CHECK(world.whose().cause == Cause::environment_and_wheel);
    CHECK_FALSE(storage::bisection_of(world.db, world.only().id));
    CHECK(world.only().state == RegressionState::reported);
    CHECK_THAT(world.issue().body, Contains("the packages and the wheel did it, not the source"));
  }
  SECTION("where the packages did all, the wheels are not asked") {
    WheelWorld world(1, 1, 1.2);
    world.pass();
    CHECK(world.whose().cause == Cause::environment);
    CHECK_FALSE(world.whose().wheel);
  }
}
