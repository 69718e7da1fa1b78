// A session's result as runners send it, made up, for benches of storage.
#pragma once

#include "storage/model/job.hpp"

namespace nightjar::test {

// Each run gives four metrics, and has `iterations` of latency.
inline SessionResult made_session(int runs, int iterations) {
  SessionResult session;
  for (int order = 0; order < runs; ++order) {
    RunResult run;
    run.order = order;
    for (int i = 0; i < iterations; ++i) {
      run.samples["latency"].push_back(0.001 * (1 + (order * 31 + i * 17) % 13));
      run.cpu_seconds.push_back(0.001);
      run.wait_seconds.push_back(0.00001 * (i % 3));
    }
    run.samples["peak_cpu_memory"] = {237e6};
    run.samples["memory_after_import"] = {235e6};
    run.samples["leaked_memory"] = {0.0};
    run.checksum = 0.5;
    run.warmup_iterations = 5;
    run.seconds = 2;
    session.runs.push_back(std::move(run));
  }
  return session;
}

}  // namespace nightjar::test
