// Which package did it, and which of its versions: over the doubles of a night, and as pure
// decisions.
#include "service/engine/search/package_searches.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "storage/bisections.hpp"
#include "storage/locks.hpp"
#include "storage/package_searches.hpp"
#include "tests/service/engine/locked_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using service::test::alpha_eval;
using service::test::LockedWorld;

namespace {

using Packages = std::vector<LockedPackage>;

// Two nightlies between which several packages move. `slows` says what an environment does.
struct Moved : LockedWorld {
  std::function<double(const EnvironmentSpec&)> slows = [](const EnvironmentSpec&) { return 1.; };
  std::set<std::string> sets_measured;  // by the search among packages

  Moved(const Packages& good, const Packages& bad) : LockedWorld(lock_with(good), lock_with(bad)) {
    of_packages = [this](const EnvironmentSpec& spec, const std::string& workload) {
      if (measuring->spec.kind == JobKind::bisect) sets_measured.insert(spec.lock->sha256.str());
      return workload == alpha_eval ? slows(spec) : 1;
    };
  }

  bool has(const EnvironmentSpec& spec, const std::string& name, const std::string& version) const {
    return version_in(spec, name) == version;
  }

  PackageCause cause() {
    const auto found = cause_among_packages(db, only());
    REQUIRE(found);
    return *found;
  }
  // The index has these versions of `name` between the ends, in order.
  void has_versions(const std::string& name, const std::vector<std::string>& versions) {
    index = [this, name, versions, resolve = index](const PackageTask& task) {
      PackageFinding finding = resolve(task);
      if (!task.position && task.name == name) finding.versions = versions;
      return finding;
    };
  }
};

const Packages good_packages{{"filelock", "3.1"}, {"jinja2", "3.0"}, {"mpmath", "1.3"},
                             {"numpy", "2.1.0"},  {"sympy", "1.13"}, {"typing", "4.0"}};
const Packages bad_packages{{"filelock", "3.2"}, {"jinja2", "3.1"}, {"mpmath", "1.4"},
                            {"numpy", "2.1.4"},  {"sympy", "1.14"}, {"typing", "4.1"}};

PackageSearch found_at(PackageQuestion question, std::vector<PackageMix> mixes, int first,
                       int last) {
  PackageSearch search;
  search.question = question;
  search.state = PackageSearchState::found;
  search.mixes = std::move(mixes);
  search.found = {{first, last, .99, 1.2, 1.18, 1.22}};
  return search;
}

Regression regression_of_one_series() {
  Regression regression;
  regression.series = {{SeriesId{3}, 1, 2, 2, 1.9, 2.1}};
  return regression;
}

}  // namespace

TEST_CASE("one of several packages is found, and the version of it that did it") {
  Moved world(good_packages, bad_packages);
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.version_in(spec, "numpy") >= "2.1.3" ? 1.2 : 1.;
  };
  world.has_versions("numpy", {"2.1.1", "2.1.2", "2.1.3"});
  world.pass();
  const Regression found = world.only();
  CHECK(found.state == RegressionState::reported);
  CHECK_FALSE(found.culprit);
  const PackageCause cause = world.cause();
  REQUIRE(cause.packages.size() == 1);
  CHECK(cause.said == "numpy 2.1.3 made it worse, 2.1.2 did not");
  CHECK(cause.packages[0].name == "numpy");
  CHECK(cause.packages[0].low < 1.2);
  CHECK(cause.packages[0].high > 1.2);
  const auto searches = storage::package_searches_of(world.db, found.id);
  REQUIRE(searches.size() == 3);
  CHECK(searches[0].question == PackageQuestion::packages);
  CHECK(searches[1].question == PackageQuestion::partner);
  CHECK(searches[2].question == PackageQuestion::versions);
  CHECK(searches[2].mixes.size() == 5);
  CHECK_FALSE(storage::bisection_of(world.db, found.id));
  // There are 2^6 sets of packages and three versions.
  CHECK(world.sets_measured.size() <= 9);
}

TEST_CASE("a pair of packages that does it only together is named as a pair") {
  Moved world(good_packages, bad_packages);
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.has(spec, "jinja2", "3.1") && world.has(spec, "sympy", "1.14") ? 1.2 : 1.;
  };
  world.pass();
  const PackageCause cause = world.cause();
  REQUIRE(cause.packages.size() == 2);
  CHECK(cause.together);
  CHECK(cause.packages[0].name == "sympy");
  CHECK(cause.packages[1].name == "jinja2");
  CHECK_THAT(cause.said, Contains("it needs jinja2 3.0 → 3.1 besides, and neither alone does it"));
}

TEST_CASE("an environment that excludes itself is left out, and it is said") {
  Moved world(good_packages, bad_packages);
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.has(spec, "numpy", "2.1.4") ? 1.2 : 1.;
  };
  // The new sympy wants the new mpmath, and the other way round.
  world.index = [&, resolve = world.index](const PackageTask& task) {
    PackageFinding finding = resolve(task);
    const auto has = [&](const char* name, const char* version) {
      return std::count(task.packages.begin(), task.packages.end(), LockedPackage{name, version}) !=
             0;
    };
    if (task.position && has("sympy", "1.14") != has("mpmath", "1.4")) {
      finding.lock.reset();
      finding.inconsistent = "sympy 1.14 depends on mpmath>=1.4";
    }
    return finding;
  };
  world.pass();
  const PackageCause cause = world.cause();
  CHECK(cause.packages.front().name == "mpmath");  // mpmath, numpy and sympy cannot be told apart
  CHECK_THAT(cause.said, Contains("one of mpmath 1.3 → 1.4, numpy 2.1.0 → 2.1.4 and sympy"));
  REQUIRE_FALSE(cause.left_out.empty());
  CHECK_THAT(cause.left_out.front(), Contains("sympy 1.14 depends on mpmath>=1.4"));
}

TEST_CASE("a version that cannot be imported leaves a range of versions") {
  Moved world({LockedPackage{"numpy", "2.1.0"}}, {LockedPackage{"numpy", "2.1.4"}});
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.version_in(spec, "numpy") >= "2.1.2" ? 1.2 : 1.;
  };
  world.installs = [&](const EnvironmentSpec& spec) { return !world.has(spec, "numpy", "2.1.2"); };
  world.has_versions("numpy", {"2.1.1", "2.1.2", "2.1.3"});
  world.pass();
  CHECK_THAT(world.cause().said, Contains("numpy 2.1.3 made it worse, 2.1.1 did not; no version in "
                                          "between could be measured"));
}

TEST_CASE("the only package that differs needs no search, and none of its versions either") {
  Moved world({LockedPackage{"numpy", "2.1.0"}}, {LockedPackage{"numpy", "2.1.1"}});
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.has(spec, "numpy", "2.1.1") ? 1.2 : 1.;
  };
  world.pass();
  CHECK(world.cause().said ==
        "numpy 2.1.1 made it worse, 2.1.0 did not; the indexes have no version in between");
  CHECK(world.sets_measured.empty());
}

TEST_CASE("where both did it the package is named, and then the commit") {
  Moved world(good_packages, bad_packages);
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    return .010 * (workload == alpha_eval && position >= 17 ? 1.2 : 1);
  };
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.has(spec, "sympy", "1.14") ? 1.2 : 1.;
  };
  world.pass();
  const Regression found = world.only();
  REQUIRE(found.culprit);
  CHECK(found.culprit->commits == std::vector{world.commits[17]});
  CHECK_THAT(world.cause().said, Contains("sympy 1.14 made it worse, 1.13 did not"));
}

TEST_CASE("a source change is not searched among packages that differ, too") {
  Moved world(good_packages, bad_packages);
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    return .010 * (workload == alpha_eval && position >= 17 ? 1.2 : 1);
  };
  world.pass();
  CHECK(world.only().culprit);
  CHECK(storage::package_searches_of(world.db, world.only().id).empty());
}

TEST_CASE("a search goes on where a killed daemon left it") {
  Moved world(good_packages, bad_packages);
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.has(spec, "sympy", "1.14") ? 1.2 : 1.;
  };
  world.on_claim = [&, died = false](const Job& job) mutable {
    if (job.spec.kind != JobKind::bisect || died) return true;
    died = true;
    world.clock.advance(std::chrono::minutes(10));
    world.restart();
    return false;
  };
  world.pass();
  CHECK_THAT(world.cause().said, Contains("sympy 1.14 made it worse, 1.13 did not"));
}

TEST_CASE("indexes that never answer end the search, and it is said") {
  Moved world({LockedPackage{"numpy", "2.1.0"}}, {LockedPackage{"numpy", "2.1.4"}});
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.has(spec, "numpy", "2.1.4") ? 1.2 : 1.;
  };
  int asked = 0;
  world.index = [&](const PackageTask& task) {
    ++asked;
    world.clock.advance(std::chrono::minutes(2));
    PackageFinding finding{task};
    finding.failure = "connection refused";
    return finding;
  };
  world.pass();
  CHECK(asked == 20);
  CHECK(world.only().state == RegressionState::reported);
  CHECK_THAT(world.cause().said,
             Contains("which version did is not known: the versions in between could not be "
                      "listed: connection refused"));
}

TEST_CASE("without an index any more a search ends, and the night with it") {
  Moved world({LockedPackage{"numpy", "2.1.0"}}, {LockedPackage{"numpy", "2.1.4"}});
  world.config.environment.indexes.clear();
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.has(spec, "numpy", "2.1.4") ? 1.2 : 1.;
  };
  world.pass();
  CHECK(world.only().state == RegressionState::reported);
  CHECK_THAT(world.cause().said, Contains("no index is configured any more"));
}

TEST_CASE("what is new comes first in the chain, and what is gone comes last") {
  const Lock good = LockedWorld::lock_with({{"a", "1"}, {"gone", "1"}, {"same", "1"}});
  const Lock bad = LockedWorld::lock_with({{"a", "2"}, {"new", "1"}, {"same", "1"}});
  PackageSearch search;
  search.mixes = chain_between(good, bad);
  REQUIRE(search.mixes.size() == 4);
  CHECK(search.mixes[1].changed == LockedPackage{"new", "1"});
  CHECK(search.mixes[2].changed == LockedPackage{"a", "2"});
  CHECK(search.mixes[3].changed == LockedPackage{"gone", ""});
  CHECK(packages_at(search, 0, good) == good.packages);
  CHECK(packages_at(search, 1, good) ==
        Packages{{"a", "1"}, {"gone", "1"}, {"new", "1"}, {"same", "1"}});
  CHECK(packages_at(search, 3, good) == bad.packages);
  CHECK(search.mixes[0].lock == good.sha256);
  CHECK(search.mixes[3].lock == bad.sha256);
  search.held = LockedPackage{"same", "7"};
  CHECK(packages_at(search, 0, good).back() == LockedPackage{"same", "7"});
}

TEST_CASE("the commit that moved the pin is named, and another one that moved a pin is not") {
  Moved world({LockedPackage{"numpy", "2.1.0"}}, {LockedPackage{"numpy", "2.1.1"}});
  world.slows = [&](const EnvironmentSpec& spec) {
    return world.has(spec, "numpy", "2.1.1") ? 1.2 : 1.;
  };
  world.night("2026-08-19", world.before);
  world.grow(3);
  const auto change = [&](const char* message, const char* path, const char* text) {
    world.commits.push_back(world.graph.commit("main", message, {{path, text}}));
    return world.commits.back();
  };
  change("Pin another (#5)", ".ci/docker/ci_commit_pins/audio.txt", "abc");
  const CommitSha moved = change("Move numpy (#6)", "requirements.txt", "sympy\nnumpy==2.1.1\n");
  world.grow(3);
  world.night("2026-08-20", world.after);
  CHECK(storage::pin_moves_of(world.db, world.only().id) ==
        std::vector<PinMove>{{moved, "requirements.txt"}});
  CHECK_THAT(world.issue().body, Contains("Its pin moved with") && Contains("Where the pin moved"));
}

TEST_CASE("a pin is known by its file's name or by a changed line") {
  const auto at = [](char digit, const char* path) {
    return PinMove{*CommitSha::parse(std::string(40, digit)), path};
  };
  const std::vector<PinChange> changes{
      {at('1', ".ci/docker/ci_commit_pins/triton.txt"), "aaa", "bbb"},
      {at('2', "requirements.txt"), "numpy==1\nSymPy==1.13\n", "numpy==1\nSymPy==1.14\n"},
      {at('3', "requirements.txt"), "numpy-stubs==1\n", "numpy-stubs==2\n"}};
  CHECK(pin_moves(changes, {{"triton", "3.0", "3.1"}}) == std::vector{changes[0].at});
  CHECK(pin_moves(changes, {{"sympy", "1.13", "1.14"}}) == std::vector{changes[1].at});
  CHECK(pin_moves(changes, {{"jinja2", "3.0", "3.1"}}).size() == 3);
}

TEST_CASE("the next question follows from the answers") {
  const Lock good = LockedWorld::lock_with({{"a", "1"}, {"b", "1"}, {"c", "1"}});
  const Lock bad = LockedWorld::lock_with({{"a", "2"}, {"b", "2"}, {"c", "2"}});
  PackagePlanFacts facts{regression_of_one_series(), good, bad, BuildId{1}, {}};
  const auto asked = [&] {
    auto next = next_question(facts, Time{});
    REQUIRE(std::holds_alternative<PackageSearch>(next));
    return std::get<PackageSearch>(next);
  };
  const PackageSearch all = asked();
  CHECK(all.question == PackageQuestion::packages);
  CHECK(all.series == SeriesId{3});

  SECTION("the first in the chain did it alone: its versions follow") {
    facts.searches = {found_at(PackageQuestion::packages, all.mixes, 1, 1)};
    CHECK(asked().question == PackageQuestion::versions);
    CHECK(asked().state == PackageSearchState::listing);
    CHECK(asked().mixes.back().changed == LockedPackage{"a", "2"});
  }
  SECTION("a later one may need those before it") {
    facts.searches = {found_at(PackageQuestion::packages, all.mixes, 3, 3)};
    const PackageSearch partner = asked();
    CHECK(partner.question == PackageQuestion::partner);
    REQUIRE(partner.mixes.size() == 4);
    CHECK(partner.mixes[1].changed == LockedPackage{"c", "2"});
    CHECK(partner.mixes[3].changed == LockedPackage{"b", "2"});
    CHECK(partner.mixes[3].lock == bad.sha256);  // resolved already
    facts.searches.push_back(found_at(PackageQuestion::partner, partner.mixes, 2, 2));
    const PackageSearch versions = asked();
    CHECK(versions.question == PackageQuestion::versions);
    CHECK(versions.held == LockedPackage{"a", "2"});
    CHECK(versions.mixes.back().changed == LockedPackage{"c", "2"});
  }
  SECTION("several, or none that can be told apart, end it") {
    facts.searches = {found_at(PackageQuestion::packages, all.mixes, 1, 2)};
    CHECK(std::holds_alternative<PackagesDone>(next_question(facts, Time{})));
    facts.searches.front().found = {{1, 1, .9, 1.1, 1.05, 1.15}, {3, 3, .9, 1.1, 1.05, 1.15}};
    CHECK(std::holds_alternative<PackagesDone>(next_question(facts, Time{})));
    CHECK(package_cause(facts.searches, good, bad).said ==
          "a 1 → 2 and c 1 → 2 each made it worse");
  }
}
