// The loop that a person would write beside the native harness, in one process and in turns of two
// iterations each: prints "ours bare" in seconds, of each turn's second iteration, whose caches
// hold what its own kind left. Used by harness_bench.py: nightjar-native-bare WORKLOAD SECONDS.
// With "peak" for the seconds: the bare loop alone, and VmHWM in bytes. turns.py is the same in
// Python.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "harness/definition.hpp"
#include "harness/loop.hpp"
#include "harness/run.hpp"

namespace {
using namespace nightjar::workloads;
using Clock = std::chrono::steady_clock;

double ours(Loop& loop, const Steps& steps) {
  for (int i = 0; i < 2; ++i) loop.iterate(steps.iterate);
  Measurement measurement;
  loop.read(measurement, loop.done() - 1);
  return measurement.latency[0];
}

double bare(const Steps& steps) {
  steps.iterate();
  const auto begin = Clock::now();
  steps.iterate();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  Request request;
  request.workload = arguments[1];
  const auto definition = find_definition(request.workload, request.version);
  const Steps steps = prepare(request, definition).steps;
  if (std::string(arguments[2]) == "peak") {
    for (int i = 0; i < request.peak_at; ++i) steps.iterate();
    std::cout << peak_bytes() << '\n';
    return 0;
  }
  auto loop = std::make_unique<Loop>(0);
  while (!loop->warm()) loop->iterate(steps.iterate);
  const auto end = Clock::now() + std::chrono::duration<double>(std::atof(arguments[2]));
  for (bool first = true; Clock::now() < end; first = !first) {
    if (loop->done() + 2 > iteration_cap) loop = std::make_unique<Loop>(0);
    double mine = 0;
    if (first) mine = ours(*loop, steps);
    const double theirs = bare(steps);
    if (!first) mine = ours(*loop, steps);
    std::cout << mine << ' ' << theirs << '\n';
  }
}
