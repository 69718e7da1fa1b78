// The loop that a person would write: what harness_bench.py compares the native harness with.
// Prints the median latency of 60 iterations in seconds, the first 25 left out.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

#include "definition.hpp"
#include "run.hpp"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  nightjar::workloads::Request request;
  request.workload = arguments[1];
  const auto definition = nightjar::workloads::find_definition(request.workload, request.version);
  const auto step = nightjar::workloads::prepare(request, definition).steps.iterate;
  std::vector<double> latency;
  for (int i = 0; i < 85; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    step();
    const auto end = std::chrono::steady_clock::now();
    if (i >= 25) latency.push_back(std::chrono::duration<double>(end - begin).count());
  }
  std::nth_element(latency.begin(), latency.begin() + 30, latency.end());
  std::cout << latency[30] << '\n';
}
