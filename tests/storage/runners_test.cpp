#include "storage/runners.hpp"

#include <catch2/catch.hpp>

#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("a machine class is one row, whoever brings it") {
  Story story;
  const auto intern = [&](char hash, const std::map<std::string, std::string>& facts) {
    return intern_machine(Autocommit(story.db), {{}, sha256(hash), facts}).id;
  };
  auto facts = story.machine.facts;
  CHECK(intern('1', facts) == story.machine.id);
  facts["kernel"] = "6.8";
  CHECK(intern('1', facts) == story.machine.id);
  CHECK(find_machine(story.db, story.machine.id)->facts.at("kernel") == "6.8");
  facts["cpu_model"] = "6502";
  CHECK(intern('2', facts) != story.machine.id);
  CHECK(find_machine(story.db, story.machine.id)->facts.at("cpu_model") == "Z80");
  CHECK_FALSE(find_machine(story.db, MachineId{99}));
}

TEST_CASE("a runner that registers again keeps its id and brings what is new") {
  Story story;
  Runner again = story.runner;
  again.id = {};
  again.labels = {{"room", "attic"}};
  again.workloads = {"a@1", "b@2"};
  again.version = "0.2.0";
  again.seen_at = at(50);
  CHECK(register_runner(Autocommit(story.db), again).id == story.runner.id);
  const Runner stored = *find_runner(story.db, story.runner.id);
  CHECK(stored.labels == again.labels);
  CHECK(stored.workloads == again.workloads);
  CHECK(stored.version == "0.2.0");
  CHECK(stored.seen_at == at(50));
  touch_runner(Autocommit(story.db), story.runner.id, at(60));
  CHECK(find_runner(story.db, story.runner.id)->seen_at == at(60));
}

TEST_CASE("facts that a runner leaves behind stay only where something was measured under them") {
  Story story;
  Runner again = story.runner;
  const auto bring = [&](const char* kernel) {
    MachineClass machine = story.machine;
    machine.facts["kernel"] = kernel;
    again.facts = intern_facts(Autocommit(story.db), machine, at(50));
    register_runner(Autocommit(story.db), again);
    return again.facts;
  };
  const FactsId first = bring("6.1");
  REQUIRE(story.measure("a").id);
  story.db.impl().execute(("UPDATE job SET facts = " + std::to_string(first.value)).c_str());
  const FactsId second = bring("6.2");
  CHECK(find_facts(story.db, first));
  bring("6.3");
  CHECK_FALSE(find_facts(story.db, second));
  CHECK(find_facts(story.db, bring("6.3")));
}

TEST_CASE("runners are listed by name") {
  Story story;
  story.enrol("gamma");
  story.enrol("beta");
  const auto runners = all_runners(story.db);
  REQUIRE(runners.size() == 3);
  CHECK(runners[0].name == "alpha");
  CHECK(runners[1].name == "beta");
  CHECK(runners[2].name == "gamma");
}

TEST_CASE("words that are no UTF-8 are stored all the same") {
  Story story;
  Runner odd = story.runner;
  odd.name = "odd";
  odd.labels = {{"note", "caf\xe9"}};
  CHECK(register_runner(Autocommit(story.db), odd).labels.at("note") == "caf\xef\xbf\xbd");
}

TEST_CASE("a workload of a new version is another workload") {
  Story story;
  const auto name = story.workload.name;
  CHECK(intern_workload(Autocommit(story.db), name, 1).id == story.workload.id);
  const Workload second = intern_workload(Autocommit(story.db), name, 2);
  CHECK(second.id != story.workload.id);
  CHECK(find_workload(story.db, second.id)->version == 2);
  CHECK(all_workloads(story.db).size() == 2);
  CHECK_FALSE(find_workload(story.db, WorkloadId{99}));
}
