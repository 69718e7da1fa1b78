#include "harness/probe.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace nightjar::workloads {
namespace {
using Clock = std::chrono::steady_clock;

// About 30 µs of work in registers, in four independent chains that keep a core's units busy. The
// inline assembly keeps the compiler from removing it.
void work() {
  std::uint64_t a = 1, b = 2, c = 3, d = 4;
  for (std::uint64_t i = 0; i < 25'000; ++i) {
    a += i ^ 3;
    b ^= i + 1;
    c += i << 1;
    d ^= i | 5;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
}

}  // namespace

std::int64_t Probe::read_ns() {
  work();  // brings its code into the cache
  const auto begin = Clock::now();
  work();
  const auto took =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  const std::int64_t ns = std::max<std::int64_t>(1, took);
  fastest_ns_ = fastest_ns_ == 0 ? ns : std::min(fastest_ns_, ns);
  return ns;
}

double Probe::slowdown(std::int64_t took_ns) const {
  const auto fastest = known_ns_ == 0 ? fastest_ns_ : std::min(fastest_ns_, known_ns_);
  return std::max(1.0, static_cast<double>(took_ns) / static_cast<double>(fastest));
}

std::int64_t Probe::await_quiet(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const std::int64_t took = read_ns();
    if (slowdown(took) <= slowed_from || Clock::now() >= end) return took;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace nightjar::workloads
