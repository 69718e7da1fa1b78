// Repeats one step and records the time, memory and disturbance of each iteration.
#pragma once

#include <array>
#include <chrono>
#include <functional>

#include "harness/probe.hpp"
#include "harness/process.hpp"
#include "harness/protocol.hpp"

namespace nightjar::workloads {

constexpr int iteration_cap = 1000;  // iterations after the warm-up

// Reads its counters outside the timed span, into arrays made before it. The harness itself must
// not show in memory.
class Loop {
 public:
  // `known_probe_ns`: the usual fastest probe on this machine; 0: not known.
  explicit Loop(std::int64_t known_probe_ns);

  void iterate(const std::function<void()>& step);
  int done() const { return done_; }

  // Whether the iterations took so long that warm-up and peak memory need no more of them.
  bool slow() const;

  // Whether the last five iterations agree, less their waiting time. The first never counts.
  bool warm() const;

  // From here on each iteration takes longer by this share of its warm time: a planted slow-down.
  void slow_down(double share);

  // Waits until nothing else disturbs the core, but no longer than `seconds`.
  void await_quiet(double seconds);

  // The number of undisturbed iterations from `since` on.
  int clean(int since) const;

  // Sets samples and leak slope from iteration `since` on, and the fastest probe.
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
