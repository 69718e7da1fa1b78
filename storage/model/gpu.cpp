#include "storage/model/gpu.hpp"

#include <set>

#include "storage/model/json_io.hpp"

namespace nightjar {
using nlohmann::json;

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

static void to_json(json& out, const GpuProcess& process) {
  out = {{"pid", process.pid}, {"name", process.name}, {"memory_bytes", process.memory_bytes}};
}

static GpuProcess parse_json(const json& in, Parsed<GpuProcess>) {
  return {field<std::int64_t>(in, "pid"), field<std::string>(in, "name"),
          field<std::optional<std::int64_t>>(in, "memory_bytes")};
}

void to_json(json& out, const GpuState& gpu) {
  out = {{"name", gpu.name},
         {"uuid", gpu.uuid},
         {"pci_bus", gpu.pci_bus},
         {"driver", gpu.driver},
         {"used", gpu.used},
         {"sm_mhz", gpu.sm_mhz},
         {"memory_mhz", gpu.memory_mhz},
         {"power_watts", gpu.power_watts},
         {"temperature_celsius", gpu.temperature_celsius},
         {"ecc_errors", gpu.ecc_errors},
         {"persistence", gpu.persistence},
         {"clock_events", gpu.clock_events},
         {"others", gpu.others}};
}

GpuState parse_json(const json& in, Parsed<GpuState>) {
  using Number = std::optional<double>;
  return {field<std::string>(in, "name"),
          field<std::string>(in, "uuid"),
          field<std::string>(in, "pci_bus"),
          field<std::string>(in, "driver"),
          field<bool>(in, "used"),
          field<Number>(in, "sm_mhz"),
          field<Number>(in, "memory_mhz"),
          field<Number>(in, "power_watts"),
          field<Number>(in, "temperature_celsius"),
          field<std::optional<std::int64_t>>(in, "ecc_errors"),
          field<std::optional<bool>>(in, "persistence"),
          field<std::vector<ClockEvent>>(in, "clock_events"),
          field<std::vector<GpuProcess>>(in, "others")};
}

}  // namespace nightjar
