#include "runner/machine/gpu_probe.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "runner/process/wait.hpp"

namespace nightjar::runner {
namespace {
constexpr std::chrono::milliseconds kObserveEvery{250};

std::optional<std::string> visible_devices() {
  const char* setting = std::getenv("CUDA_VISIBLE_DEVICES");
  return setting ? std::optional<std::string>(setting) : std::nullopt;
}

// The device that one item of the list names; nullopt if none.
std::optional<std::size_t> device_of(std::string_view item, const std::vector<GpuState>& gpus) {
  if (item.starts_with("GPU-")) {
    const auto found = std::find_if(
        gpus.begin(), gpus.end(), [&](const GpuState& gpu) { return gpu.uuid.starts_with(item); });
    if (found == gpus.end()) return std::nullopt;
    return static_cast<std::size_t>(found - gpus.begin());
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
  if (error != std::errc() || end != item.data() + item.size() || number >= gpus.size())
    return std::nullopt;
  return number;
}

}  // namespace

std::vector<std::size_t> visible_gpus(const std::optional<std::string>& setting,
                                      const std::vector<GpuState>& gpus) {
  std::vector<std::size_t> out;
  if (!setting || setting->starts_with("MIG-")) {
    for (std::size_t i = 0; i < gpus.size(); ++i) out.push_back(i);
    return out;
  }
  for (std::size_t at = 0; at <= setting->size();) {
    const auto end = std::min(setting->find(',', at), setting->size());
    std::string_view item(setting->data() + at, end - at);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    const auto device = device_of(item, gpus);
    if (!device) break;
    out.push_back(*device);
    at = end + 1;
  }
  return out;
}

GpuProbe::GpuProbe(const std::filesystem::path& library)
    : nvml_(library), visible_(visible_gpus(visible_devices(), nvml_.read())) {}

std::set<ClockEvent> GpuProbe::observe() {
  if (visible_.empty()) return {};
  const std::lock_guard lock(mutex_);
  const auto events = nvml_.clock_events(visible_.front());
  seen_.insert(events.begin(), events.end());
  return {events.begin(), events.end()};
}

std::vector<GpuState> GpuProbe::read() {
  const std::lock_guard lock(mutex_);
  const auto all = nvml_.read();
  std::vector<GpuState> out;
  for (const std::size_t index : visible_) out.push_back(all.at(index));
  if (out.empty()) return out;
  out.front().used = true;
  auto& events = out.front().clock_events;
  seen_.insert(events.begin(), events.end());
  events.assign(seen_.begin(), seen_.end());
  seen_.clear();
  return out;
}

GpuWatch::GpuWatch(GpuProbe& probe) : probe_(probe) {
  if (probe_.visible_.empty()) return;
  thread_ = std::jthread([this](std::stop_token stop) {
    do {
      const auto events = probe_.observe();
      seen_.insert(events.begin(), events.end());
    } while (wait_for(kObserveEvery, stop));
  });
}

std::string GpuWatch::end() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  GpuState gpu;
  gpu.used = true;
  gpu.clock_events.assign(seen_.begin(), seen_.end());
  return throttling(std::vector{gpu});
}

}  // namespace nightjar::runner
