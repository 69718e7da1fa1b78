#include "service/engine/jobs/session_plan.hpp"

#include <catch2/catch.hpp>

#include "storage/model/run_value.hpp"

using namespace nightjar;
using namespace nightjar::service;

TEST_CASE("A night's sessions begin with what the first glob of the configuration selects") {
  Runner runner;
  runner.id = RunnerId{1};
  runner.machine = MachineId{1};
  runner.workloads = {"native/a/eval/cpu/fp32/b1/eager@1", "mine/z/eval/cpu/fp32/b1/eager@4",
                      "python/b/eval/cpu/fp32/b1/eager@1", "python/a/eval/cpu/fp32/b1/eager@2",
                      "hf/bert/eval/cpu/fp32/b1/eager@1"};
  Config::NightConfig config;
  config.workloads = {"mine/**", "python/**", "**/a/**"};
  config.session_workloads = 2;
  const EnvironmentSpec environment{{}, "", "", Sha256::parse(std::string(64, '0')).value(),
                                    {}, "", ""};
  Night night;
  night.id = NightId{7};
  const auto jobs = plan_screen(night, environment, std::vector<Runner>{runner}, config,
                                [](MachineId, const std::string&, int) { return 1; });
  std::vector<std::vector<std::string>> names;
  for (const Job& job : jobs) {
    names.emplace_back();
    for (const Workload& one : job.spec.workloads)
      names.back().push_back(one.name.str() + "@" + std::to_string(one.version));
  }
  CHECK(names == std::vector<std::vector<std::string>>{
                     {"mine/z/eval/cpu/fp32/b1/eager@4", "python/a/eval/cpu/fp32/b1/eager@2"},
                     {"python/b/eval/cpu/fp32/b1/eager@1", "native/a/eval/cpu/fp32/b1/eager@1"}});
}

TEST_CASE("Each session can be run by one runner, though none has all workloads of its class") {
  const auto runner = [](int id, std::vector<std::string> names) {
    Runner made;
    made.id = RunnerId{id};
    made.machine = MachineId{1};
    for (const std::string& name : names)
      made.workloads.add("python/" + name + "/eval/cpu/fp32/b1/eager@1");
    return made;
  };
  const std::vector<Runner> live{runner(1, {"a", "b", "c"}), runner(2, {"b", "c", "d"})};
  Config::NightConfig config;
  config.workloads = {"python/**"};
  config.session_workloads = 10;
  const EnvironmentSpec environment{{}, "", "", Sha256::parse(std::string(64, '0')).value(),
                                    {}, "", ""};
  const auto jobs = plan_screen({}, environment, live, config,
                                [](MachineId, const std::string&, int) { return 1; });
  std::vector<std::string> models;
  for (const Job& job : jobs) {
    std::string& session = models.emplace_back();
    for (const Workload& one : job.spec.workloads) session += one.name.model();
  }
  CHECK(models == std::vector<std::string>{"a", "bc", "d"});
}

TEST_CASE("What costs a run time of its own is asked for only where its metric is judged") {
  Config::NightConfig config;
  CHECK(run_limits(config).kernel_iterations == profiled_iterations);
  CHECK_FALSE(run_limits(config).peak_memory);
  config.metrics = {"latency", "peak_memory"};
  CHECK(run_limits(config).kernel_iterations == 0);
  CHECK(run_limits(config).peak_memory);
}
