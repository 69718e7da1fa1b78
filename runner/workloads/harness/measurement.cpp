#include "harness/measurement.hpp"

#include <algorithm>
#include <chrono>

#include "harness/loop.hpp"

namespace nightjar::workloads {
namespace {
using Clock = std::chrono::steady_clock;

constexpr int checksum_at = 5;    // iterations with the warm-up: a fixed count, whatever the time
constexpr int slow_peak_at = 16;  // where iterations take over a second: the fewest that a run has
constexpr int clean_iterations =
    10;  // measuring goes on until this many iterations were undisturbed ...
constexpr double patience = 12;  // ... but not longer than this multiple of the requested time

}  // namespace

Measurement measure(const Steps& steps, const Request& request) {
  Measurement measurement;
  Loop loop(static_cast<std::int64_t>(request.fastest_probe * 1e9));
  const auto iterate = [&](const std::function<void()>& step) {
    loop.iterate(step);
    if (steps.observe) steps.observe();
  };
  while (loop.done() < request.peak_at && !loop.warm()) {
    if (loop.done() != checksum_at - 1) {
      iterate(steps.iterate);
      continue;
    }
    std::function<double()> sum;
    iterate([&] { sum = steps.iterate_and_keep(); });
    measurement.checksum = sum();
  }
  const int warmup = measurement.warmup_iterations = loop.done();
  if (request.slow > 0) loop.slow_down(request.slow);
  const auto begin = Clock::now();
  for (;;) {
    const bool slow = loop.done() == slow_peak_at && loop.slow();
    if (slow || (loop.done() == request.peak_at && !measurement.peak_bytes))
      measurement.peak_bytes = peak_bytes();
    const int measured = loop.done() - warmup;
    if (measured >= iteration_cap) break;
    const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
    if (measured >= request.min_iterations && spent >= request.seconds && measurement.peak_bytes) {
      const double left = patience * request.seconds - spent;
      const int wanted = std::max(request.min_iterations, clean_iterations);
      if (left <= 0 || loop.clean(warmup) >= wanted) break;
      loop.await_quiet(left);
    }
    iterate(steps.iterate);
  }
  loop.read(measurement, warmup);
  return measurement;
}

}  // namespace nightjar::workloads
