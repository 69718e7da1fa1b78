// The loop that a person would write beside the native harness, in one process and in turns, so that both
// meet the same machine: prints "ours bare" in seconds for each round, each the first decile of 60
// iterations. Used by harness_bench.py.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "definition.hpp"
#include "harness.hpp"
#include "run.hpp"

namespace {
using namespace nightjar::workloads;

double decile(std::vector<double> latency) {
  const auto at = latency.begin() + static_cast<std::ptrdiff_t>(latency.size() / 10);
  std::nth_element(latency.begin(), at, latency.end());
  return *at;
}

double ours(const Steps& steps) {
  auto latency = measure(steps, 60, 0, 0).latency;
  latency.resize(60);
  return decile(std::move(latency));
}

double bare(const Steps& steps) {
  std::vector<double> latency;
  for (int i = 0; i < 70; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    steps.iterate();
    const auto end = std::chrono::steady_clock::now();
    if (i >= 10) latency.push_back(std::chrono::duration<double>(end - begin).count());
  }
  return decile(std::move(latency));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  Request request;
  request.workload = arguments[1];
  const auto definition = find_definition(request.workload, request.version);
  const Steps steps = prepare(request, definition).steps;
  ours(steps);
  bare(steps);
  for (int i = 0; i < std::atoi(arguments[2]); ++i) {
    double mine = 0, theirs = 0;
    if (i % 2 == 0) mine = ours(steps);
    theirs = bare(steps);
    if (i % 2 == 1) mine = ours(steps);
    std::cout << mine << ' ' << theirs << std::endl;
  }
}
