#include "service/cli/event_counter.hpp"

#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/syscall.h>

namespace nightjar::cli {

CounterEvent instructions_event() {
  return {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS};
}

// A counter that is inherited and enabled on exec stays off in the process that opened it. Each
// child that calls exec has a copy of its own, which is enabled and added up when the child ends.
ChildCounter::ChildCounter(CounterEvent event) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = event.type;
  wanted.config = event.config;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  wanted.disabled = wanted.inherit = wanted.enable_on_exec = 1;
  wanted.exclude_kernel = wanted.exclude_hv = 1;
  constexpr int this_thread = 0, any_cpu = -1, no_group = -1;
  const long fd = ::syscall(SYS_perf_event_open, &wanted, this_thread, any_cpu, no_group,
                            static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
  if (fd < 0)
    problem_ = std::strerror(errno);
  else
    fd_ = Fd(static_cast<int>(fd));
}

std::optional<double> ChildCounter::count() const {
  struct {
    std::uint64_t value, enabled, running;
  } counted{};
  if (!fd_ || ::read(fd_.get(), &counted, sizeof counted) != sizeof counted || counted.running == 0)
    return std::nullopt;
  return static_cast<double>(counted.value) * static_cast<double>(counted.enabled) /
         static_cast<double>(counted.running);
}

}  // namespace nightjar::cli
