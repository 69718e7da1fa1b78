// What worlds without PyTorch are made of: commits, their nightlies, and runs drawn around a level.
// Used by the engine's tests and by the simulation.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "service/builds/artifacts.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "tests/support/literal_graph.hpp"

namespace nightjar::test {

// The commit number `number` on main, which adds a file: Python, or one that must be compiled.
inline CommitSha add_change(git::LiteralGraph& graph, std::size_t number, bool native = false) {
  const std::string name = std::to_string(number);
  return graph.commit(
      "main", "Change " + name + " (#" + name + ")",
      {{native ? "aten/src/ATen/m" + name + ".cpp" : "torch/m" + name + ".py", name}});
}

// A proved nightly of `head`, found at `now`. Its wheel is in `artifacts`.
inline Build made_nightly(git::LiteralGraph& graph, service::Artifacts& artifacts,
                          const std::string& date, const CommitSha& head, Time now) {
  Build build;
  build.nightly_commit = graph.release("nightly", date, head);
  build.version = "2.14.0.dev" + date + "+cpu";
  std::erase(build.version, '-');
  build.variant = "cpu";
  build.date = date;
  build.url = "https://example.org/torch-" + build.version + "-cp311-cp311-linux_x86_64.whl";
  build.commit = head;
  const auto wheel = artifacts.temporary();
  std::ofstream(wheel) << build.version;
  build.sha256 = artifacts.add(wheel);
  build.state = BuildState::proved;
  build.found_at = now;
  return build;
}

// A proved wheel that PyTorch's CI made of `commit`, found at `now`. It is in `artifacts`.
inline Build made_ci_wheel(service::Artifacts& artifacts, const CommitSha& commit, Time now) {
  Build build;
  build.kind = BuildKind::ci;
  build.version = "2.14.0a0+git" + commit.str().substr(0, 7);
  build.variant = "cpu";
  build.url = "https://example.org/torch-" + build.version + "-cp311-cp311-linux_x86_64.whl";
  build.commit = commit;
  const auto wheel = artifacts.temporary();
  std::ofstream(wheel) << build.version;
  build.sha256 = artifacts.add(wheel);
  build.state = BuildState::proved;
  build.found_at = now;
  return build;
}

constexpr double small_noise = .002;  // sd of an iteration's log, and of memory's

// `normal()` draws from the standard normal distribution.
template <class Normal>
double near(double value, Normal normal) {
  return value * std::exp(small_noise * normal());
}

// Iterations of `latency` seconds that nothing disturbed, each with `cpu` seconds of CPU time.
template <class Normal>
void add_iterations(RunResult& run, int count, double latency, double cpu, Normal normal) {
  for (int i = 0; i < count; ++i) {
    run.samples["latency"].push_back(near(latency, normal));
    run.cpu_seconds.push_back(cpu);
    run.wait_seconds.push_back(0);
  }
}

inline void break_import(RunResult& run) {
  run.status = RunStatus::broken_environment;
  run.reason = "ImportError";
}

inline void lack_device(RunResult& run) {
  run.status = RunStatus::unavailable;
  run.reason = "no CUDA device";
}

inline void lack_profiler(RunResult& run) {
  run.status = RunStatus::unavailable;
  run.reason = "no profiler here";
}

}  // namespace nightjar::test
