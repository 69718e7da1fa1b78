// Repeats one step and notes what each iteration took; loop.py is the same in Python.
#pragma once

#include <array>
#include <chrono>
#include <functional>

#include "harness/probe.hpp"
#include "harness/process.hpp"
#include "harness/protocol.hpp"

namespace nightjar::workloads {

constexpr int iteration_cap = 1000;  // iterations after the warm-up

// Counters are read outside the timed span, and their arrays exist before it: the harness itself
// must not show in memory.
class Loop {
 public:
  // `known_probe_ns`: the fastest probe of earlier processes on this machine; 0: not known.
  explicit Loop(std::int64_t known_probe_ns);

  void iterate(const std::function<void()>& step);
  int done() const { return done_; }

  // The iterations so far took so long that neither warm-up nor peak memory waits for more of them.
  bool slow() const;

  // The first iteration never counts; then the last five, less their waiting, must agree.
  bool warm() const;

  // From here on an iteration takes this share of its warm time longer: a planted slow-down.
  void slow_down(double share);

  void await_quiet(double seconds);

  // How many iterations were not disturbed, from `since` on.
  int clean(int since) const;

  // Samples and leak slope from `since` on, and the fastest probe.
  void read(Measurement& measurement, int since) const;

 private:
  enum Column { latency_column, cpu_column, wait_column, resident_column, probe_column };

  std::vector<double> slowdown(int since) const;

  std::chrono::nanoseconds pause_{0}, spent_{0};
  Counters counters_;
  Probe probe_;
  std::array<std::vector<std::int64_t>, 5> columns_;
  int done_ = 0;
};

}  // namespace nightjar::workloads
