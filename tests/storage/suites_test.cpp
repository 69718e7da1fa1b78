#include "storage/suites.hpp"

#include <catch2/catch.hpp>

#include "storage/imports.hpp"
#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

const std::string compiled = "python/dlrm/eval/cpu/fp32/b4/inductor";

SuiteKey key_of(const Story& story, const std::string& suite = "python") {
  return {story.machine.id, "cpu", suite, "eval", "cpu", "fp32", "inductor"};
}

SummedSuite summed(Story& story, double speedup) {
  SummedSuite suite;
  suite.summary.night = story.night.id;
  suite.summary.at = story.night.started_at;
  suite.summary.key = key_of(story);
  suite.summary.models = 2;
  suite.summary.passed = 1;
  SuiteMean mean{.measure = SuiteMeasure::speedup,
                 .value = speedup,
                 .members = 1,
                 .members_sha256 = sha256('a')};
  mean.level = 1.5;
  mean.verdict = SuiteVerdict::suspect_worse;
  mean.change = SuiteChange{.95, .94, .96, 1};
  mean.allowed = .02;
  mean.went = 1;
  mean.reason = "it is slower";
  suite.summary.means = {mean};
  SuiteMember member;
  member.workload = story.add_workload(compiled).id;
  member.accuracy = Accuracy::pass;
  member.passed = true;
  member.latency = .01;
  member.values = {{SuiteMeasure::speedup, speedup}, {SuiteMeasure::cpu_compression, .9}};
  SuiteMember failed;
  failed.workload = story.workload.id;
  failed.accuracy = Accuracy::fail_accuracy;
  suite.members = {member, failed};
  return suite;
}

void end_night(Story& story) {
  story.night.state = NightState::done;
  update_night(Autocommit(story.db), story.night);
}

}  // namespace

TEST_CASE("what a suite came to is stored with its means and members") {
  Story story;
  end_night(story);
  CHECK(nights_to_sum_up(story.db, 9) == std::vector{story.night.id});
  store_suites(Autocommit(story.db), story.night.id, {summed(story, 1.4)});
  CHECK(nights_to_sum_up(story.db, 9).empty());

  const auto page = list_suites(story.db, {}, {});
  REQUIRE(page.items.size() == 1);
  const SuiteSummary& suite = page.items[0];
  CHECK(suite.build == story.bad.id);
  CHECK(suite.key == key_of(story));
  CHECK(suite.models == 2);
  REQUIRE(suite.means.size() == 1);
  CHECK(suite.means[0].value == 1.4);
  CHECK(suite.means[0].members_sha256 == sha256('a'));
  CHECK(suite.means[0].verdict == SuiteVerdict::suspect_worse);
  REQUIRE(suite.means[0].change);
  CHECK(suite.means[0].change->low == .94);
  CHECK(suite.means[0].change->members == 1);
  CHECK(suite.means[0].allowed == .02);
  CHECK(suite.means[0].went == 1);
  CHECK(suite.means[0].reason == "it is slower");
  CHECK(find_suite(story.db, suite.id)->passed == 1);
  CHECK_FALSE(find_suite(story.db, SuiteId{99}));

  const auto members = list_members(story.db, {suite.id, {}, {}}, {}).items;
  REQUIRE(members.size() == 2);
  CHECK(members[1].name == compiled);
  CHECK(members[1].values.at(SuiteMeasure::cpu_compression) == .9);
  CHECK_FALSE(members[1].values.contains(SuiteMeasure::compile_time));
  CHECK(members[1].latency == .01);
  CHECK(members[0].accuracy == Accuracy::fail_accuracy);
  CHECK_FALSE(members[0].passed);
  CHECK_FALSE(members[0].latency);
}

TEST_CASE("a night that is summed up again keeps the ids of its suites") {
  Story story;
  store_suites(Autocommit(story.db), story.night.id, {summed(story, 1.4)});
  const SuiteId id = list_suites(story.db, {}, {}).items.at(0).id;
  store_suites(Autocommit(story.db), story.night.id, {summed(story, 1.3)});
  const auto again = list_suites(story.db, {}, {}).items;
  REQUIRE(again.size() == 1);
  CHECK(again[0].id == id);
  CHECK(again[0].means.at(0).value == 1.3);
  CHECK(list_members(story.db, {}, {}).items.size() == 2);
}

TEST_CASE("suites are found by every filter, and earlier ones by their time") {
  Story story;
  store_suites(Autocommit(story.db), story.night.id, {summed(story, 1.4)});
  const Night first = story.night;
  story.night = story.start_night(story.good.id);
  SummedSuite other = summed(story, 1.2);
  other.summary.key.suite = "hf";
  store_suites(Autocommit(story.db), story.night.id, {summed(story, 1.3), other});
  const auto count = [&](const SuiteFilter& filter) {
    return list_suites(story.db, filter, {}).items.size();
  };
  CHECK(count({}) == 3);
  CHECK(count({.night = first.id}) == 1);
  CHECK(count({.machine = story.machine.id}) == 3);
  CHECK(count({.machine = MachineId{9}}) == 0);
  CHECK(count({.since = at(0)}) == 3);
  CHECK(count({.since = at(1)}) == 0);
  CHECK(count({.suite = "hf"}) == 1);
  CHECK(count({.suite = "python", .task = "eval"}) == 2);
  CHECK(count({.task = "train"}) == 0);
  CHECK(count({.device = "cuda"}) == 0);
  CHECK(count({.precision = "bf16"}) == 0);
  CHECK(count({.backend = "inductor"}) == 3);
  CHECK(count({.verdict = SuiteVerdict::suspect_worse}) == 3);
  CHECK(count({.verdict = SuiteVerdict::worse}) == 0);
  CHECK(list_members(story.db, {{}, story.night.id, {}}, {}).items.size() == 4);
  CHECK(list_members(story.db, {{}, {}, {"**/inductor"}}, {}).items.size() == 3);
  const auto page = list_suites(story.db, {}, {1, {}});
  REQUIRE(page.next);
  CHECK(list_suites(story.db, {}, {9, page.next}).items.size() == 2);

  // Both nights began at once: the later one is the one that was stored later.
  const auto before = suites_before(story.db, key_of(story), at(0), story.night.id, 9);
  REQUIRE(before.size() == 1);
  CHECK(before[0].summary.night == first.id);
  CHECK(before[0].members.size() == 2);
  CHECK(suites_before(story.db, key_of(story), at(0), first.id, 9).empty());
  CHECK(suites_before(story.db, key_of(story), at(1), NightId{1}, 1).size() == 1);
}

TEST_CASE("a suite is made of the night's runs in sessions that count") {
  Story story;
  const Job job = story.measure("night/1");
  add_check(Autocommit(story.db), job, {true, "", .1});
  const Job lost = story.measure("night/2");
  add_check(Autocommit(story.db), lost, {false, "its control was off", .2});
  story.measure("night/1/confirm", JobKind::confirm);
  const auto runs = suite_runs(story.db, story.night.id);
  REQUIRE(runs.size() == 2);  // of the night's build alone
  for (const SuiteRun& run : runs) {
    CHECK(run.machine == story.machine.id);
    CHECK(run.workload == story.workload.id);
    CHECK(run.name == story.workload.name.str());
    CHECK(run.status == RunStatus::measured);
    CHECK(run.values.at("peak_cpu_memory") == 2e8);
    CHECK(run.values.at("latency") == Approx(1.25));
    CHECK_FALSE(run.values.contains("failures"));
  }
}

TEST_CASE("an import that adds to a night has it and later ones summed up again") {
  Story story;
  const auto machine =
      intern_machine(Autocommit(story.db), {{}, sha256('7'), {{"imported", "ci"}}}).id;
  KnownSeries known;
  const auto import = [&](int day, const std::string& metric, std::optional<Accuracy> word = {}) {
    HistoryNight night{at(day * 86400), "", commit(static_cast<char>('a' + day)), "x", {}};
    night.values = {{*WorkloadName::parse(compiled), metric, {1}, word}};
    store_history(Autocommit(story.db), machine, night, at(0), known);
  };
  import(2, "speedup"), import(3, "speedup"), import(4, "speedup");
  const auto waiting = nights_to_sum_up(story.db, 9);
  REQUIRE(waiting.size() == 3);
  const auto sum_up_all = [&] {
    for (const NightId night : nights_to_sum_up(story.db, 9))
      store_suites(Autocommit(story.db), night, {});
  };
  sum_up_all();
  import(3, "speedup");  // known
  CHECK(nights_to_sum_up(story.db, 9).empty());
  import(3, "compile_time");
  CHECK(nights_to_sum_up(story.db, 9) == std::vector{waiting[1], waiting[2]});
  sum_up_all();
  import(4, "failures", Accuracy::pass);
  CHECK(nights_to_sum_up(story.db, 9) == std::vector{waiting[2]});
  sum_up_all();
  import(1, "speedup");  // an older night comes last
  const auto all = nights_to_sum_up(story.db, 9);
  REQUIRE(all.size() == 4);
  CHECK(all[1] == waiting[0]);
}
