// A counter of the kernel for what child processes do. Used by instructions.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/base/fd.hpp"

namespace nightjar::cli {

// As perf_event_open(2) names it.
struct CounterEvent {
  std::uint32_t type;
  std::uint64_t config;
};
CounterEvent instructions_event();

// Counts what happens in user space of the programs that the calling thread starts from now on,
// and of all that they start. This process itself is not counted: the counter begins with exec.
class ChildCounter {
 public:
  explicit ChildCounter(CounterEvent event);
  // Why the kernel does not count, in its words; empty: it counts.
  const std::string& problem() const { return problem_; }
  // What children did that have ended. If other counters took turns with this one, it is an
  // estimate, as that of `perf stat`. nullopt: this one never had its turn.
  std::optional<double> count() const;

 private:
  Fd fd_;
  std::string problem_;
};

}  // namespace nightjar::cli
