#include "service/engine/jobs/demand.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service;

namespace {

constexpr const char* some_workload = "python/alpha/eval/cpu/fp32/b1/eager@1";

Runner runner(int id, int machine, std::map<std::string, std::string> labels = {}) {
  Runner made;
  made.id = RunnerId{id};
  made.machine = MachineId{machine};
  made.labels = std::move(labels);
  made.workloads = {some_workload};
  return made;
}

storage::WaitingJob waiting(int machine, std::optional<RunnerId> affinity = {}) {
  return {JobId{1}, MachineId{machine}, affinity, {some_workload}, {}};
}

Config config() {
  Config made;
  made.night.workloads = {"python/**"};
  return made;
}

Demand demand(const DemandFacts& facts) {
  return decide(facts, config());
}

}  // namespace

TEST_CASE("A pool is wanted for what its runners could claim and for what they hold") {
  DemandFacts facts;
  facts.pool = {runner(1, 1), runner(2, 1)};
  CHECK(demand(facts).wanted == 0);
  facts.waiting = {waiting(1), waiting(1, RunnerId{2}), waiting(1, RunnerId{3}), waiting(2)};
  facts.waiting.push_back({JobId{5}, MachineId{1}, {}, {"other@1"}, {}});
  facts.holders = {RunnerId{1}, RunnerId{3}};
  const Demand found = demand(facts);
  CHECK(found.runners == 2);
  CHECK(found.queued ==
        2);  // another class, another's affinity and another workload are not theirs
  CHECK(found.held == 1);
  CHECK(found.nights == 0);
  CHECK(found.wanted == 3);
}

TEST_CASE("A pool is wanted for the variants that its runners measure") {
  DemandFacts facts;
  facts.pool = {runner(1, 1)};
  facts.waiting = {waiting(1)};
  facts.waiting[0].variant = "cu130";
  facts.nights = {{"cu130", {}}};
  CHECK(demand(facts).wanted == 0);
  facts.pool.push_back(runner(2, 1, {{"variant", "cu130"}}));
  CHECK(demand(facts).queued == 1);
  CHECK(demand(facts).nights == 1);
}

TEST_CASE("Builds are wanted of a pool with a builder only") {
  DemandFacts facts;
  facts.pool = {runner(1, 1)};
  facts.due_builds = 4;
  CHECK(demand(facts).wanted == 0);
  facts.pool.push_back(runner(2, 1, {{"build", "also"}}));
  CHECK(demand(facts).wanted == 4);
}

TEST_CASE("One runner is wanted for a night that has no session for the pool") {
  DemandFacts facts;
  facts.nights = {{"cpu", {}}};
  CHECK(demand(facts).wanted == 1);  // nobody has registered yet
  facts.pool = {runner(1, 1), runner(2, 2)};
  CHECK(demand(facts).wanted == 1);
  facts.nights = {{"cpu", {MachineId{3}}}, {"cpu", {}}};
  CHECK(demand(facts).nights == 2);
  CHECK(demand(facts).wanted == 1);
  facts.nights = {{"cpu", {MachineId{2}}}};
  CHECK(demand(facts).wanted == 0);
  facts.nights = {{"cpu", {}}};
  for (Runner& one : facts.pool) one.workloads = {"native/beta/eval/cpu/fp32/b1/eager@1"};
  CHECK(demand(facts).wanted == 0);  // the night has nothing that they could run
}
