// Times a fixed piece of work, which shows how fast the core is at the moment. Another hardware
// thread or another guest of the host slows it down, and no counter of this system shows that.
#pragma once

#include <cstdint>

namespace nightjar::workloads {

// An iteration counts as disturbed if a probe beside it is slower than this multiple of the
// fastest.
constexpr double slowed_from = 1.25;

class Probe {
 public:
  // `known_ns`: the usual fastest probe of earlier processes on this machine; 0: not known.
  explicit Probe(std::int64_t known_ns) : known_ns_(known_ns) {}
  std::int64_t read_ns();
  double slowdown(std::int64_t took_ns) const;
  // Repeats the probe until it is not slowed, or until the time is over. Returns the last one.
  std::int64_t await_quiet(double seconds);
  std::int64_t fastest_ns() const { return fastest_ns_; }  // of this process

 private:
  std::int64_t known_ns_;
  std::int64_t fastest_ns_ = 0;
};

}  // namespace nightjar::workloads
