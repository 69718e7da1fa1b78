// Days with native commits: which of them have a build, and what is said of those that have none.
#include <algorithm>

#include <catch2/catch.hpp>

#include "service/engine/outcome/report_facts.hpp"
#include "service/engine/search/revival.hpp"
#include "service/report/report.hpp"
#include "storage/bisections.hpp"
#include "storage/model/json.hpp"
#include "tests/service/engine/search/day.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::Day;

namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE_METHOD(Day,
                 "native commits without a wheel end as a range that is filed, blaming nobody") {
  run("p p p p p n n n n n n p p p p p p",
      9);  // commits 6 to 11 are native; 11 has the bad wheel's libraries
  CHECK(search().state == BisectionState::range);
  CHECK(regression().state == RegressionState::reported);
  CHECK_FALSE(regression().culprit);
  REQUIRE(regression().range);
  CHECK(regression().range->commits == between(6, 11));
  for (const Untestable& commit : storage::untestable_of(db, search().id)) {
    CHECK(commit.cause == UntestableCause::no_build_here);
    CHECK(commit.reason.find("none of the 2 proved wheels of variant cpu here") == 0);
    CHECK(commit.reason.find("c10/core.cpp differs from 2.14.0.dev20260819+cpu") !=
          std::string::npos);
  }
  REQUIRE(messages().size() == 1);
  const OutboxMessage issue = messages().front();
  CHECK(issue.kind == OutboxKind::open_issue);
  CHECK(first_line(issue.body).find("within these 6 commits") != std::string::npos);
  CHECK(first_line(issue.body).find("Nobody is blamed") != std::string::npos);
  CHECK(issue.body.find("evert") == std::string::npos);
  CHECK(issue.body.find("do not build") == std::string::npos);
  CHECK(issue.body.find("Ada Author") == std::string::npos);
  const auto changes = storage::changes_of(db, regression().id);
  const auto named = std::find_if(changes.begin(), changes.end(), [](const auto& change) {
    return change.state == RegressionState::range;
  });
  REQUIRE(named != changes.end());
  const auto evidence = nlohmann::json::parse(named->evidence.text);
  CHECK(evidence["outcome"] == "range");
  CHECK(evidence["max_named"] == 3);
  CHECK(evidence["culprits"][0]["range"] == true);
  CHECK(evidence["untestable_causes"].size() == evidence["untestable"].size());
  // A commit of a range is nobody's culprit.
  CHECK(storage::list_regressions(db, {{}, {}, {}, {}, commits[9]}, {}).items.empty());
}

TEST_CASE_METHOD(Day, "when wheels appear, the search goes on from its log and names the commit") {
  run("p p p p p n n n n n n p p p p p p", 9);
  REQUIRE(search().state == BisectionState::range);
  const std::size_t jobs = storage::jobs_of_bisection(db, search().id).size();
  const std::string filed = messages().front().key;
  ci_wheel(3);  // of a group that has wheels already
  settle();
  CHECK(search().state == BisectionState::range);
  CHECK(storage::jobs_of_bisection(db, search().id).size() == jobs);

  ci_wheel(8);
  ci_wheel(9);
  settle();
  CHECK(search().state == BisectionState::culprit);
  CHECK(regression().state == RegressionState::reported);
  CHECK_FALSE(regression().range);
  REQUIRE(regression().culprit);
  CHECK(regression().culprit->commits == std::vector{commits[9]});
  CHECK(storage::jobs_of_bisection(db, search().id).size() > jobs);
  const auto told = messages();  // in the issue that is there
  REQUIRE(told.size() == 2);
  const auto& comment = told[0].key == filed ? told[1] : told[0];
  CHECK(comment.kind == OutboxKind::comment);
  CHECK(comment.body.starts_with("Builds of more commits became available, so the search went on"));
  CHECK(comment.body.find(" since [`" + commits[9].brief() + "`]") != std::string::npos);
}

TEST_CASE_METHOD(Day, "a search that is killed after its range goes on where it was") {
  run("p p p p p n n n n n n p p p p p p", 9);
  restart();
  ci_wheel(8);
  ci_wheel(9);
  tick_once();
  restart();
  settle();
  CHECK(search().state == BisectionState::culprit);
  CHECK(regression().culprit->commits == std::vector{commits[9]});
}

TEST_CASE_METHOD(Day,
                 "one wheel of a group serves all its commits, and a revert returns to another") {
  run("p n p p p p p r p p p p p p", 5);  // 2 to 7 are one group of which a wheel is listed later
  // Without it, the group's end is a range of its commits and the revert's.
  REQUIRE(search().state == BisectionState::range);
  CHECK(regression().range->commits == between(2, 8));
  for (int position = 9; position < 14; ++position) CHECK(bases_of(position).size() <= 1);

  const Build wheel = ci_wheel(6);
  settle();
  CHECK(search().state == BisectionState::culprit);
  CHECK(regression().culprit->commits == std::vector{commits[5]});
  int served = 0;
  for (int position = 2; position <= 7; ++position) served += bases_of(position).contains(wheel.id);
  CHECK(served >= 2);
}

TEST_CASE_METHOD(Day, "neighbours that were tried are a culprit, more of them a range") {
  const int broken = GENERATE(2, 4);
  imports = [broken](int position) { return position < 10 - broken || position >= 10; };
  run("p p p p p p p p p p p p p p p p p p p p", 9);
  if (broken == 2) {
    CHECK(search().state == BisectionState::culprit);
    REQUIRE(regression().culprit);
    CHECK(regression().culprit->commits == between(8, 10));
    return;
  }
  CHECK(search().state == BisectionState::range);
  REQUIRE(regression().range);
  CHECK(regression().range->commits == between(6, 10));
  for (const Untestable& commit : storage::untestable_of(db, search().id))
    CHECK(commit.cause == UntestableCause::does_not_import);
  const std::string body = messages().front().body;
  CHECK(body.find("those in between were tried and have no run") != std::string::npos);
  CHECK(body.find("does not import: ImportError") != std::string::npos);
  CHECK(body.find("To narrow it, make a wheel") == std::string::npos);
}

TEST_CASE_METHOD(Day, "headers are laid over for native workloads only") {
  const bool native = GENERATE(true, false);
  if (native) {
    slow_workload = "native/alpha/eval/cpu/fp32/b1/eager";
    config.night.workloads = {"native/**"};
    runner.workloads = {slow_workload + "@1"};
    runner = storage::register_runner(storage::Autocommit(db), runner);
  }
  run("p p h p p h p p p p h p p", 5);  // headers at 3, 6 and 11
  const auto untestable = storage::untestable_of(db, search().id);
  if (native) {
    CHECK(untestable.empty());
    REQUIRE((regression().culprit || regression().range));
    const auto& named = regression().culprit ? regression().culprit : regression().range;
    CHECK(std::count(named->commits.begin(), named->commits.end(), commits[5]) == 1);
    return;
  }
  CHECK_FALSE(untestable.empty());
  REQUIRE(regression().range);
  CHECK(regression().range->commits == between(3, 11));
}

TEST_CASE("a search is taken up for a build of its range, while its regression stands") {
  SearchToRevive seen;
  const auto sha = [](char digit) { return *CommitSha::parse(std::string(40, digit)); };
  seen.search.commits = {sha('a'), sha('b'), sha('c'), sha('d')};
  seen.search.state = BisectionState::range;
  seen.regression.emplace().state = RegressionState::reported;
  seen.range = {sha('c'), sha('d')};
  CHECK_FALSE(decide(seen));
  seen.testable = {1};
  CHECK_FALSE(decide(seen));  // outside of the range
  seen.testable = {1, 2};
  REQUIRE(decide(seen));
  CHECK(decide(seen)->reopens);
  CHECK(decide(seen)->commits == std::vector{1, 2});
  seen.regression->state = RegressionState::range;
  CHECK(decide(seen));
  seen.regression->state = RegressionState::recovered;
  CHECK_FALSE(decide(seen));
  seen.regression.reset();  // the search of a fix, which was told of when it ended
  CHECK_FALSE(decide(seen));
  seen.search.state = BisectionState::open;
  REQUIRE(decide(seen));
  CHECK_FALSE(decide(seen)->reopens);
}
