// What made a build better is searched like what made it worse, after all regressions. Nobody is
// blamed for it.
#include "service/engine/search/fix_searches.hpp"

#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "bisect/evidence/seal.hpp"
#include "bisect/evidence/verify.hpp"
#include "service/api/evidence_bundle.hpp"
#include "service/engine/outcome/repairs.hpp"
#include "storage/bisections.hpp"
#include "storage/connection.hpp"
#include "storage/filtered.hpp"
#include "storage/fixes.hpp"
#include "storage/model/json.hpp"
#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::beta_train;
using service::test::NightWorld;

namespace {

// Nights of four commits each. With the tenth commit both workloads take .7 of their time.
struct FixWorld : NightWorld {
  double better = .7;

  FixWorld() {
    noise = .005;
    config.report.fixes = 2;
    level = [this](int position, const std::string&, const std::string& metric) {
      return metric == "latency" ? .010 * (position >= 10 ? better : 1) : 3e8;
    };
  }
  void next_night(int day) {
    clock.advance(std::chrono::hours(24));
    grow(4);
    nightly("2026-08-" + std::to_string(day));
    settle();
  }
  void nights(int from, int to) {
    for (int day = from; day <= to; ++day) next_night(day);
  }
  std::optional<FixSearch> fix() const {
    const auto all = storage::list_improvements(db, {}).items;
    return all.empty() ? std::nullopt
                       : storage::fix_search_of(db, all.front().build, runner.machine);
  }
  Bisection search() const { return storage::bisection_of(db, fix().value().id).value(); }
  std::vector<OutboxMessage> filed() const {
    auto all = storage::list_messages(db, {100, {}}).items;
    std::erase_if(all, [](const OutboxMessage& one) { return one.regression.has_value(); });
    return all;
  }
  std::string title() const { return filed().empty() ? "" : filed()[0].title; }
  void check_nobody_is_blamed() const {
    CHECK(storage::list_regressions(db, {}, {}).items.empty());
    for (const OutboxMessage& one : storage::list_messages(db, {100, {}}).items)
      CHECK_FALSE(one.regression);
  }
};

bool tells(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the commit that made a build better is named among several, and nobody is blamed") {
  FixWorld world;
  world.nights(20, 25);
  REQUIRE(world.fix());
  const FixSearch fix = *world.fix();
  CHECK(world.search().state == BisectionState::culprit);
  REQUIRE(fix.causes.size() == 1);
  CHECK(fix.causes[0].commits.commits == std::vector{world.commits[10]});
  CHECK_FALSE(fix.causes[0].is_range);
  CHECK(fix.causes[0].commits.probability > .99);
  CHECK(fix.causes[0].commits.low > 1.3);  // of the cost before over that after
  CHECK(nlohmann::json::parse(fix.evidence).at("is_better") == true);
  REQUIRE(world.filed().size() == 1);
  CHECK(tells(world.title(), "#10 made 2 workloads faster, by "));
  CHECK(tells(world.filed()[0].body, "named this commit, with probability "));
  world.check_nobody_is_blamed();
}

TEST_CASE("the evidence of a fix's search is accepted, and not with another commit or direction") {
  FixWorld world;
  world.nights(20, 24);
  nlohmann::json bundle = api::evidence_of(world.db, world.search());
  CHECK(bundle.at("regression").is_null());
  CHECK(evidence::verify_bundle(bundle, web::sha256).agrees());
  const auto still_agrees = [&] {
    bundle["seal"] = evidence::seal_of(bundle, web::sha256);
    return evidence::verify_bundle(bundle, web::sha256).agrees();
  };
  SECTION("as it was written") {
    CHECK(still_agrees());
  }
  SECTION("with another commit") {
    bundle["fix"]["causes"][0]["commits"][0] = world.commits[9].str();
    CHECK_FALSE(still_agrees());
  }
  SECTION("as if it were a regression") {
    bundle["changes"][0]["evidence"].erase("is_better");
    CHECK_FALSE(still_agrees());
  }
  SECTION("of a regression, too") {
    bundle["regression"] = bundle["fix"];
    CHECK_THROWS_AS(still_agrees(), nlohmann::json::exception);
  }
  SECTION("without its causes") {
    bundle["fix"]["causes"] = nlohmann::json::array();
    CHECK_FALSE(still_agrees());
  }
}

TEST_CASE("the report of a fix waits while its search goes on, for five days at most") {
  FixWorld world;
  world.on_claim = [&](const Job& job) { return job.spec.kind != JobKind::bisect; };
  world.lease = std::chrono::hours(24 * 30);
  world.nights(20, 24);
  REQUIRE(world.fix());
  CHECK(world.search().state == BisectionState::open);
  CHECK(world.filed().empty());
  world.clock.advance(std::chrono::hours(5 * 24));
  world.settle();
  REQUIRE(world.filed().size() == 1);
  CHECK(tells(world.title(), "One of 4 commits made 2 workloads faster, by "));
  CHECK(tells(world.filed()[0].body, "A search for the commit is under way"));
  world.check_nobody_is_blamed();
}

TEST_CASE("an improvement that its search does not see again names nobody") {
  FixWorld world;
  world.before_tick = [&] {  // from then on the machine is as it was
    if (!storage::list_improvements(world.db, {}).items.empty()) world.better = 1;
  };
  world.nights(20, 23);
  REQUIRE(world.fix());
  CHECK(world.search().state == BisectionState::not_reproduced);
  CHECK(world.fix()->causes.empty());
  REQUIRE(world.filed().size() == 1);
  CHECK(tells(world.title(), "With 2.14.0.dev20260822+cpu something made"));
  CHECK(tells(world.filed()[0].body, "did not see it again, so no commit is named"));
  world.check_nobody_is_blamed();
}

TEST_CASE("who repaired a regression is what the search for the fix named, if it measured it") {
  FixWorld world;
  world.level = [](int position, const std::string&, const std::string& metric) {
    return metric == "latency" ? .010 * (position >= 6 && position < 14 ? 1.4 : 1) : 3e8;
  };
  world.nights(20, 28);
  const auto recovered = storage::regressions_in_state(world.db, RegressionState::recovered);
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].culprit.value().commits == std::vector{world.commits[6]});
  REQUIRE(world.fix());
  CHECK(world.fix()->causes.at(0).commits.commits == std::vector{world.commits[14]});
  const auto repair = repair_of(world.context(), recovered[0]);
  REQUIRE(repair);
  CHECK(repair->by.search == world.fix()->id);
  REQUIRE(repair->by.commits.size() == 1);
  CHECK(repair->by.commits[0].sha == world.commits[14]);
  const auto told = storage::messages_of(world.db, recovered[0].id);
  const auto last = std::find_if(told.begin(), told.end(), [](const OutboxMessage& one) {
    return one.kind == OutboxKind::close_issue;
  });
  REQUIRE(last != told.end());
  CHECK(tells(last->body, "Repaired by "));
  CHECK(tells(last->body, ", which a search named with probability > 99.9 %."));

  Regression other = recovered[0];  // as if it had not shown what the search measured
  std::erase_if(other.series,
                [&](const AffectedSeries& one) { return one.series == world.fix()->series; });
  REQUIRE(other.series.size() == 1);
  const auto guess = repair_of(world.context(), other);
  REQUIRE(guess);
  CHECK_FALSE(guess->by.search);
  CHECK(guess->by.commits.size() == 4);
}

TEST_CASE("regressions of the machine class go first") {
  FixWorld world;
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    if (metric == "latency") return .010 * (position >= 10 ? .7 : 1);
    return 3e8 * (position >= 14 && workload == alpha_eval ? 1.5 : 1);
  };
  std::vector<bool> after_regression;
  bool fix_came_first = false;
  world.on_claim = [&](const Job& job) {
    const bool waits = regressions_wait(world.context(), world.runner.machine);
    const auto fix = world.fix();
    if (job.spec.kind == JobKind::bisect && waits && fix) {
      for (const auto& entry : storage::jobs_of_bisection(world.db, world.search().id))
        fix_came_first |= entry.job == job.id;
    }
    return true;
  };
  world.nights(20, 24);
  CHECK_FALSE(fix_came_first);
  REQUIRE(storage::list_regressions(world.db, {}, {}).items.size() == 1);
  const Regression regression = storage::list_regressions(world.db, {}, {}).items[0];
  REQUIRE(regression.culprit);
  CHECK(regression.culprit->commits == std::vector{world.commits[14]});
  const Bisection first = storage::bisection_of(world.db, regression.id).value();
  CHECK(first.finished_at.value() <= world.search().started_at);
  CHECK(world.fix()->causes.at(0).commits.commits == std::vector{world.commits[10]});
  const auto named = [&](std::size_t index) {
    storage::ImprovementFilter wanted;
    wanted.commit = world.commits[index];
    return storage::list_improvements(world.db, wanted, {}).items.size();
  };
  CHECK(named(10) == storage::list_improvements(world.db, {}).items.size());
  CHECK(named(14) == 0);
  world.settle();
  CHECK(storage::list_regressions(world.db, {}, {}).items.size() == 1);
}

TEST_CASE("a fix is not searched where the configuration asks for none") {
  FixWorld world;
  SECTION("of searches") {
    world.config.search_fixes = false;
  }
  SECTION("of issues") {
    world.config.report.fixes = 0;
  }
  SECTION("of issues of so few workloads") {
    world.config.report.fixes = 3;
  }
  world.nights(20, 24);
  REQUIRE(storage::list_improvements(world.db, {}).items.size() == 2);
  CHECK_FALSE(world.fix());
  CHECK(storage::open_bisections(world.db).empty());
}

TEST_CASE("a search of a fix ends within its limits, and then says that nobody is known") {
  FixWorld world;
  world.run_seconds = 60;
  world.config.search_minutes = std::chrono::minutes(5);
  world.nights(20, 24);
  REQUIRE(world.fix());
  CHECK(world.search().state == BisectionState::inconclusive);
  CHECK(tells(world.fix()->evidence, "the budget of minutes is spent"));
  CHECK(tells(world.title(), "One of 4 commits made"));
  CHECK(tells(world.filed().at(0).body, "could not say which"));
  world.check_nobody_is_blamed();
}

TEST_CASE("a fix whose builds have different packages is not searched") {
  Build before, after;
  before.id = BuildId{1}, after.id = BuildId{2};
  before.commit = after.commit = CommitSha::parse(std::string(40, 'a')).value();
  FixToSearch facts{after.id, MachineId{1}, {}, false, before, after, {{*after.commit}}, false};
  const Time now{};
  REQUIRE(decide(facts, now));
  CHECK(std::holds_alternative<OpenFixSearch>(*decide(facts, now)));
  const auto why = [&] { return std::get<LeaveFix>(*decide(facts, now)).fix.not_searched; };
  facts.after->lock = Sha256::parse(std::string(64, 'b'));
  CHECK(why() == FixNotSearched::packages_differ);
  facts.commits.reset();
  CHECK(why() == FixNotSearched::no_range);
  facts.is_failure = true;
  CHECK(why() == FixNotSearched::no_series);
  facts.waits = true;
  CHECK_FALSE(decide(facts, now));
}

TEST_CASE("a search of a fix that is killed between any two commits names the same commit, once") {
  for (int survives = 0; survives < 12; ++survives) {
    INFO("killed after " << survives << " commits");
    FixWorld world;
    world.nights(20, 22);
    int left = survives;
    bool killed = false;
    const auto refuse = [](void* count) { return --*static_cast<int*>(count) < 0 ? 1 : 0; };
    world.before_tick = [&] {
      const bool near = !storage::list_improvements(world.db, {}).items.empty();
      if (near && !killed) sqlite3_commit_hook(world.db.impl().connection, refuse, &left);
    };
    world.after_tick = [&] {
      sqlite3_commit_hook(world.db.impl().connection, nullptr, nullptr);
      killed |= left < 0;
    };
    world.next_night(23);
    world.before_tick = world.after_tick = nullptr;
    world.restart();
    world.settle();
    REQUIRE(world.fix());
    REQUIRE(world.fix()->causes.size() == 1);
    CHECK(world.fix()->causes[0].commits.commits == std::vector{world.commits[10]});
    CHECK(world.filed().size() == 1);
    world.check_nobody_is_blamed();
  }
}
