#include "storage/model/gpu.hpp"

#include <set>

namespace nightjar {

std::vector<ClockEvent> throttling(const GpuState& gpu) {
  std::vector<ClockEvent> out;
  for (const ClockEvent event : gpu.clock_events)
    if (event != ClockEvent::gpu_idle && event != ClockEvent::applications_clocks_setting &&
        event != ClockEvent::display_clock_setting)
      out.push_back(event);
  return out;
}

std::string throttling(const std::vector<GpuState>& gpus) {
  std::set<ClockEvent> events;
  for (const GpuState& gpu : gpus)
    if (gpu.used)
      for (const ClockEvent event : throttling(gpu)) events.insert(event);
  std::string text;
  for (const ClockEvent event : events)
    text += (text.empty() ? "" : ", ") + std::string(name_of(event));
  return text;
}

}  // namespace nightjar
