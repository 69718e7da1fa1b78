#include "service/engine/night/suites.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "storage/imports.hpp"
#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;
using storage::SuiteRun;
using storage::SummedSuite;

namespace {

const std::string compiled_alpha = "python/alpha/eval/cpu/fp32/b1/inductor";

// Runs of workloads whose ids follow the order in which they are named first.
struct Runs {
  std::vector<SuiteRun> all;
  std::map<std::string, WorkloadId> ids;

  SuiteRun& add(const std::string& name, std::map<std::string, double> values,
                RunStatus status = RunStatus::measured, std::optional<Accuracy> accuracy = {}) {
    const auto id = ids.try_emplace(name, WorkloadId{static_cast<std::int64_t>(ids.size()) + 1});
    all.push_back({MachineId{1}, id.first->second, name, 1, status, accuracy, std::move(values)});
    return all.back();
  }
};

Night night_of(int number) {
  Night night;
  night.id = NightId{number};
  night.build = BuildId{number};
  night.state = NightState::done;
  night.started_at = *parse_rfc3339("2026-08-20T00:00:00Z") + std::chrono::days(number);
  return night;
}

// The night's suites in order, judged against `before`, newest first.
std::vector<SummedSuite> sum_up(const Runs& runs, const std::vector<SummedSuite>& before = {},
                                int number = 1) {
  SuiteFacts facts{night_of(number), "cpu", runs.all, {}};
  for (const SuiteRun& run : runs.all) {
    const auto name = *WorkloadName::parse(run.name);
    const auto text = [](std::string_view part) { return std::string(part); };
    facts.earlier[{run.machine, "cpu", text(name.suite()), text(name.task()), text(name.device()),
                   text(name.precision()), text(name.backend())}] = before;
  }
  return decide(facts).suites;
}

const SuiteMean& mean_in(const SummedSuite& suite, SuiteMeasure measure) {
  for (const SuiteMean& mean : suite.summary.means)
    if (mean.measure == measure) return mean;
  FAIL("there is no " << name_of(measure));
  return suite.summary.means.front();
}

bool has_mean(const SummedSuite& suite, SuiteMeasure measure) {
  const auto& means = suite.summary.means;
  return std::any_of(means.begin(), means.end(),
                     [&](const SuiteMean& mean) { return mean.measure == measure; });
}

std::string model(int number, const std::string& backend) {
  return "s/m" + std::to_string(number) + "/eval/cpu/fp32/b1/" + backend;
}

// Runs of `count` models, each twice as fast as eager.
Runs models(int count) {
  Runs runs;
  for (int i = 1; i <= count; ++i) {
    runs.add(model(i, "eager"), {{"latency", 2}});
    runs.add(model(i, "inductor"), {{"latency", 1}});
  }
  return runs;
}

}  // namespace

TEST_CASE("a suite has a summary for each compiled backend, over what it and eager ran") {
  Runs runs;
  runs.add(model(1, "eager"), {{"latency", 4}, {"peak_cpu_memory", 300}});
  runs.add(model(1, "eager"), {{"latency", 4}});
  runs.add(model(1, "inductor"),
           {{"latency", 2}, {"compile_time", 10}, {"compression_ratio", 1.5}});
  runs.add(model(1, "inductor"), {{"latency", 2}, {"compile_time", 12}});
  runs.add(model(2, "eager"), {{"latency", 8}, {"peak_cpu_memory", 100}});
  runs.add(model(2, "inductor"), {{"latency", 1}, {"compile_time", 21}, {"compression_ratio", .5}});
  runs.add(model(3, "inductor"), {{"latency", 1}, {"compile_time", 30}});  // eager did not run
  runs.add(model(1, "inductor-t2"), {{"latency", 1}});
  runs.add(model(1, "eager-t2"), {{"latency", 3}});
  const auto suites = sum_up(runs);
  REQUIRE(suites.size() == 2);
  const SummedSuite& one = suites[0];
  CHECK(one.summary.key.backend == "inductor");
  CHECK(one.summary.models == 3);
  CHECK(one.summary.passed == 3);
  CHECK(mean_in(one, SuiteMeasure::speedup).value == Approx(4));  // of 2 and 8
  CHECK(mean_in(one, SuiteMeasure::speedup).members == 2);
  CHECK(mean_in(one, SuiteMeasure::compile_time).value == Approx((11. + 21 + 30) / 3));
  CHECK(mean_in(one, SuiteMeasure::cpu_compression).value == Approx(1));  // of 1.5 and .5
  CHECK(mean_in(one, SuiteMeasure::speedup).verdict == SuiteVerdict::first_night);
  CHECK(one.summary.means.size() == 3);  // no GPU
  CHECK(suites[1].summary.key.backend == "inductor-t2");
  CHECK(mean_in(suites[1], SuiteMeasure::speedup).value == Approx(3));
}

TEST_CASE("a speed-up measured in turns counts before the ratio of two workloads") {
  Runs runs;
  runs.add(model(1, "eager"), {{"latency", 4}});
  runs.add(model(1, "inductor"), {{"latency", 2}, {"speedup", 1.9}});
  CHECK(mean_in(sum_up(runs)[0], SuiteMeasure::speedup).value == Approx(1.9));
}

TEST_CASE("memory of the device is compressed, as it was measured or as a file says it") {
  Runs runs;
  const std::string name = "s/m/eval/cuda/fp32/b1/";
  runs.add(name + "eager", {{"peak_gpu_memory", 300}, {"peak_cpu_memory", 90}});
  runs.add(name + "inductor", {{"peak_gpu_memory", 200}, {"peak_cpu_memory", 100}});
  const auto measured = sum_up(runs)[0];
  CHECK(mean_in(measured, SuiteMeasure::gpu_compression).value == Approx(1.5));
  CHECK(!has_mean(measured, SuiteMeasure::cpu_compression));
  Runs imported;
  imported.add(name + "inductor", {{"compression_ratio", 1.2}});
  CHECK(mean_in(sum_up(imported)[0], SuiteMeasure::gpu_compression).value == Approx(1.2));
  Runs on_cpu;
  on_cpu.add(model(1, "inductor"), {{"compression_ratio", 1.1}});
  CHECK(mean_in(sum_up(on_cpu)[0], SuiteMeasure::cpu_compression).value == Approx(1.1));
  Runs peaks;  // of whole processes, one of which compiles
  peaks.add(model(1, "eager"), {{"latency", 2}, {"peak_cpu_memory", 300}});
  peaks.add(model(1, "inductor"), {{"latency", 1}, {"peak_cpu_memory", 600}});
  CHECK(!has_mean(sum_up(peaks)[0], SuiteMeasure::cpu_compression));
}

TEST_CASE("who does not pass is counted and is in no mean") {
  Runs runs = models(2);
  runs.add(model(3, "eager"), {{"latency", 2}});
  runs.add(model(3, "inductor"), {{"latency", 1}});
  runs.add(model(3, "inductor"), {}, RunStatus::crashed);
  runs.add(model(4, "inductor"), {{"speedup", 3}}, RunStatus::measured, Accuracy::fail_accuracy);
  runs.add(model(5, "inductor"), {}, RunStatus::unavailable);
  runs.add(model(6, "inductor"), {}, RunStatus::failed, Accuracy::pass_due_to_skip);
  runs.add(model(7, "inductor"), {}, RunStatus::failed, Accuracy::pass);  // 0 times eager
  runs.add(model(8, "inductor"), {{"speedup", 2}}, RunStatus::measured, Accuracy::eager_variation);
  const auto suite = sum_up(runs)[0];
  CHECK(suite.summary.models == 8);
  CHECK(suite.summary.passed == 4);
  CHECK(mean_in(suite, SuiteMeasure::speedup).members == 3);
  std::map<std::string, std::optional<Accuracy>> words;
  for (const SuiteMember& member : suite.members) words[member.name] = member.accuracy;
  CHECK(words.at(model(1, "inductor")) == std::nullopt);
  CHECK(words.at(model(3, "inductor")) == Accuracy::fail_to_run);
  CHECK(words.at(model(5, "inductor")) == Accuracy::model_fail_to_load);
  CHECK(words.at(model(6, "inductor")) == Accuracy::pass_due_to_skip);
}

TEST_CASE("the identity of the members is that of their names and versions") {
  const auto identity = [](const Runs& runs) {
    return mean_in(sum_up(runs)[0], SuiteMeasure::speedup).members_sha256;
  };
  Runs two = models(2), other_order;
  for (const SuiteRun& run : two.all) other_order.all.insert(other_order.all.begin(), run);
  CHECK(identity(two) == identity(other_order));
  CHECK(identity(two) != identity(models(3)));
  Runs newer = models(2);
  for (SuiteRun& run : newer.all) run.version = 2;
  CHECK(identity(two) != identity(newer));
}

TEST_CASE("a summary says who came and went, and why the mean moved") {
  Runs fast = models(8);
  for (SuiteRun& run : fast.all)
    if (run.name == model(8, "inductor")) run.values["latency"] = .1;  // 20 times eager
  std::vector<SummedSuite> before;
  for (int night = 1; night <= 12; ++night)
    before.insert(before.begin(), sum_up(fast, before, night).at(0));
  CHECK(mean_in(before.back(), SuiteMeasure::speedup).reason == "no night before it has this mean");
  CHECK(mean_in(before.front(), SuiteMeasure::speedup).reason ==
        "8 members that were there before are +0.0 % (+0.0 % to +0.0 %) against their level; up "
        "to 2.0 % is no change");

  Runs crashed = fast;
  for (SuiteRun& run : crashed.all)
    if (run.name == model(8, "inductor"))
      run = {MachineId{1}, run.workload, run.name, 1, RunStatus::timed_out, {}, {}};
  crashed.add(model(9, "inductor"), {{"speedup", 2}});
  const auto changed = mean_in(sum_up(crashed, before, 13)[0], SuiteMeasure::speedup);
  CHECK(changed.verdict == SuiteVerdict::members_changed);
  CHECK(changed.came == 1);
  CHECK(changed.went == 1);
  CHECK(changed.reason ==
        "the mean moved by -25 % because its members changed; 7 members that were there before are "
        "+0.0 % (+0.0 % to +0.0 %) against their level; up to 2.0 % is no change; came: " +
            model(9, "inductor") + "; went: " + model(8, "inductor") + " (timeout)");

  Runs one_slower = fast;
  for (SuiteRun& run : one_slower.all)
    if (run.name == model(3, "inductor")) run.values["latency"] *= 2;
  const auto carried = mean_in(sum_up(one_slower, before, 13)[0], SuiteMeasure::speedup);
  CHECK(carried.verdict == SuiteVerdict::same);
  CHECK(carried.reason.ends_with("; what moved the mean: " + model(3, "inductor")));

  Runs slower = fast;
  for (SuiteRun& run : slower.all)
    if (run.name.ends_with("inductor")) run.values["latency"] *= 1.1;
  const auto first = sum_up(slower, before, 13)[0];
  CHECK(mean_in(first, SuiteMeasure::speedup).verdict == SuiteVerdict::suspect_worse);
  before.insert(before.begin(), first);
  const auto second = mean_in(sum_up(slower, before, 14)[0], SuiteMeasure::speedup);
  CHECK(second.verdict == SuiteVerdict::worse);
  CHECK(second.change->ratio == Approx(1 / 1.1));
  CHECK(second.reason.ends_with("the night before showed it, too"));
}

TEST_CASE("a night is summed up when it ends, and once") {
  NightWorld world;
  world.runner.workloads.add(compiled_alpha + "@1");
  storage::register_runner(storage::Autocommit(world.db), world.runner);
  world.level = [](int, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    return workload == compiled_alpha ? .005 : .010;
  };
  world.nightly("2026-08-19");
  world.settle();
  const auto suites = storage::list_suites(world.db, {}, {}).items;
  REQUIRE(suites.size() == 1);
  CHECK(suites[0].night == NightId{1});
  CHECK(suites[0].key ==
        SuiteKey{world.runner.machine, "cpu", "python", "eval", "cpu", "fp32", "inductor"});
  CHECK(suites[0].passed == 1);
  REQUIRE(suites[0].means.size() == 1);
  CHECK(suites[0].means[0].value == Approx(2).epsilon(.06));  // of speed-ups
  CHECK(storage::nights_to_sum_up(world.db, 9).empty());
  EngineContext context = world.context();
  CHECK_FALSE(sum_up_nights(context));

  world.clock.advance(std::chrono::hours(24));
  world.grow(1);
  world.nightly("2026-08-20");
  world.settle();
  const auto both = storage::list_suites(world.db, {}, {}).items;
  REQUIRE(both.size() == 2);
  CHECK(both[0].means.at(0).verdict == SuiteVerdict::same);
  CHECK(both[0].means.at(0).change->members == 1);
}

TEST_CASE("an imported night is summed up, and again with those after it if it gets more") {
  NightWorld world;
  const auto machine = storage::intern_machine(storage::Autocommit(world.db),
                                               {{}, web::sha256("i"), {{"imported", "ci"}}})
                           .id;
  const auto import = [&](int day, const std::string& name, double speedup) {
    storage::KnownSeries known;
    HistoryNight night{*parse_rfc3339("2026-08-01T00:00:00Z") + std::chrono::days(day),
                       "",
                       CommitSha::parse(std::string(39, 'a') + std::to_string(day)),
                       "x",
                       {}};
    night.values = {{*WorkloadName::parse(name), "speedup", {speedup}, {}}};
    storage::store_history(storage::Autocommit(world.db), machine, night, world.clock.now(), known);
  };
  const std::string one = "torchbench/one/eval/cuda/amp/bdefault/inductor",
                    other = "torchbench/other/eval/cuda/amp/bdefault/inductor";
  import(2, one, 2), import(3, one, 2);
  world.tick_once();
  auto suites = storage::list_suites(world.db, {}, {}).items;
  REQUIRE(suites.size() == 2);
  CHECK(suites[0].means.at(0).verdict == SuiteVerdict::same);
  CHECK(suites[0].means.at(0).came == 0);

  import(2, other, 8);  // late
  world.tick_once();
  suites = storage::list_suites(world.db, {}, {}).items;
  REQUIRE(suites.size() == 2);
  CHECK(suites[1].models == 2);
  CHECK(suites[1].means.at(0).value == Approx(4));
  CHECK(suites[0].means.at(0).verdict == SuiteVerdict::members_changed);
  CHECK(suites[0].means.at(0).went == 1);
}
