// A fixed piece of work that shows how fast the core is just now; probe.py is the same in
// Python. Something else that shares the core (another hardware thread, another guest of the host)
// slows it down and is seen by no counter of this system.
#pragma once

#include <cstdint>

namespace nightjar::workloads {

// Beside a probe slower than this, as a multiple of the fastest, nothing counts.
constexpr double slowed_from = 1.25;

class Probe {
 public:
  // `known_ns`: the usual fastest of earlier processes on this machine; 0: not known.
  explicit Probe(std::int64_t known_ns) : known_ns_(known_ns) {}
  std::int64_t read_ns();
  double slowdown(std::int64_t took_ns) const;
  // The first probe that was not slowed, or the last one when the time is over.
  std::int64_t await_quiet(double seconds);
  std::int64_t fastest_ns() const { return fastest_ns_; }  // of this process

 private:
  std::int64_t known_ns_;
  std::int64_t fastest_ns_ = 0;
};

}  // namespace nightjar::workloads
