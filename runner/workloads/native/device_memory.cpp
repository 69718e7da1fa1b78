#include "device_memory.hpp"

#if __has_include(<c10/core/CachingDeviceAllocator.h>)
#include <c10/core/CachingDeviceAllocator.h>
#define NIGHTJAR_DEVICE_ALLOCATOR 1
#endif

#include "statistics.hpp"

namespace nightjar::workloads {

void DeviceMemory::note() {
#ifdef NIGHTJAR_DEVICE_ALLOCATOR
  const auto stats = c10::getDeviceAllocator(device_)->getDeviceStats(0);
  const auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  allocated_.push_back(stats.allocated_bytes[all].current);
  peaks_.peak_allocated = stats.allocated_bytes[all].peak;
  peaks_.peak_reserved = stats.reserved_bytes[all].peak;
#endif
}

std::optional<GpuMemory> DeviceMemory::read(int since) const {
  if (allocated_.empty()) return std::nullopt;
  GpuMemory memory = peaks_;
  memory.leaked = leak_slope({allocated_.begin() + since, allocated_.end()});
  return memory;
}

}  // namespace nightjar::workloads
