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
    10;                          // measuring goes on until so many iterations were undisturbed ...
constexpr double patience = 12;  // ... but not longer than this multiple of the requested time

}  // namespace

Measurement measure(const Steps& steps, int min_iterations, double seconds, double fastest_probe,
                    double slow) {
  Measurement measurement;
  Loop loop(static_cast<std::int64_t>(fastest_probe * 1e9));
  const auto iterate = [&](const std::function<void()>& step) {
    loop.iterate(step);
    if (steps.observe) steps.observe();
  };
  while (!loop.warm()) {
    if (loop.done() != checksum_at - 1) {
      iterate(steps.iterate);
      continue;
    }
    std::function<double()> sum;
    iterate([&] { sum = steps.iterate_and_keep(); });
    measurement.checksum = sum();
  }
  const int warmup = measurement.warmup_iterations = loop.done();
  if (slow > 0) loop.slow_down(slow);
  const auto begin = Clock::now();
  for (;;) {
    const bool slow = loop.done() == slow_peak_at && loop.slow();
    if (slow || (loop.done() == peak_at && !measurement.peak_bytes))
      measurement.peak_bytes = peak_bytes();
    const int measured = loop.done() - warmup;
    if (measured >= iteration_cap) break;
    const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
    if (measured >= min_iterations && spent >= seconds && measurement.peak_bytes) {
      const double left = patience * seconds - spent;
      if (left <= 0 || loop.clean(warmup) >= std::max(min_iterations, clean_iterations)) break;
      loop.await_quiet(left);
    }
    iterate(steps.iterate);
  }
  loop.read(measurement, warmup);
  return measurement;
}

}  // namespace nightjar::workloads
