#include "harness/device_clock.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

#if __has_include(<c10/core/CachingDeviceAllocator.h>)
#include <c10/core/CachingDeviceAllocator.h>
#define NIGHTJAR_DEVICE_ALLOCATOR 1
#endif

#include "harness/statistics.hpp"

namespace nightjar::workloads {
namespace {

// A template, so that it compiles where an older LibTorch's event has no such member.
template <class Event>
void note_elapsed(const Event& begin, const Event& end, std::vector<double>& seconds) {
  if constexpr (requires { begin.elapsedTime(end); })
    seconds.push_back(begin.elapsedTime(end) * 1e-3);
}

}  // namespace

// BACKEND_DEFAULT, because PyTorch's default event records no time.
DeviceClock::DeviceClock(c10::DeviceType device)
    : device_(device),
      first_(device, c10::EventFlag::BACKEND_DEFAULT),
      last_(device, c10::EventFlag::BACKEND_DEFAULT) {}

c10::Stream DeviceClock::stream() const {
  const c10::impl::VirtualGuardImpl guard(device_);
  return guard.getStream(guard.getDevice());
}

void DeviceClock::begin() {
  first_.record(stream());
}

void DeviceClock::end() {
  last_.record(stream());
}

void DeviceClock::observe() {
  note_elapsed(first_, last_, seconds_);
#ifdef NIGHTJAR_DEVICE_ALLOCATOR
  const auto stats = c10::getDeviceAllocator(device_)->getDeviceStats(0);
  const auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  allocated_.push_back(stats.allocated_bytes[all].current);
  peaks_.peak_allocated = stats.allocated_bytes[all].peak;
  peaks_.peak_reserved = stats.reserved_bytes[all].peak;
#endif
}

OnDevice DeviceClock::read(int since) const {
  OnDevice found;
  if (!seconds_.empty()) found.latency = {seconds_.begin() + since, seconds_.end()};
  if (allocated_.empty()) return found;
  found.memory = peaks_;
  found.memory->leaked = leak_slope({allocated_.begin() + since, allocated_.end()});
  return found;
}

}  // namespace nightjar::workloads
