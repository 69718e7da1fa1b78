#include "runner/cli/device_agents.hpp"

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"

using namespace nightjar::runner;

TEST_CASE("Each of eight devices has an agent with a name, a cache, a lock and CPUs of its own") {
  DeviceHost host{"CUDA_VISIBLE_DEVICES", {}, {}, {}};
  for (int i = 0; i < 8; ++i) {
    host.selections.push_back("GPU-" + std::to_string(i));
    host.local.emplace_back();
  }
  for (int cpu = 0; cpu < 33; ++cpu) host.cpus.push_back(cpu);
  const auto agents =
      plan_agents(host,
                  {"/bin/nightjar-runner", "--service", "http://a", "--devices=each", "--name", "h",
                   "--label", "k=v", "--cache", "/old"},
                  "host", "/cache", "/lock");
  REQUIRE(agents.size() == 8);
  CHECK(agents[3].command == std::vector<std::string>{"/bin/nightjar-runner", "--service",
                                                      "http://a", "--label", "k=v", "--name",
                                                      "host-gpu3", "--cache", "/cache/gpu3",
                                                      "--label", "devices=each"});
  CHECK(agents[3].changed ==
        std::vector<std::string>{"CUDA_VISIBLE_DEVICES=GPU-3", "NIGHTJAR_MACHINE_LOCK=/lock.gpu3"});
  CHECK(agents[3].cpus == std::vector<int>{12, 13, 14, 15});
  host.cpus.resize(7);
  CHECK_THROWS_WITH(plan_agents(host, {}, "", "", ""),
                    "--devices each: 8 devices need as many CPUs, and 7 may be used here");
  CHECK_THROWS_AS(plan_agents(host, {}, "", "", ""), WrongUse);
}
