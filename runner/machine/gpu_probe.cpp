#include "runner/machine/gpu_probe.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "runner/machine/nvml.hpp"
#include "runner/machine/rocm_smi.hpp"
#include "runner/process/wait.hpp"

namespace nightjar::runner {
namespace {
constexpr std::chrono::milliseconds observe_every{250};

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

std::optional<std::string> visible_devices() {
  for (const char* name : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"})
    if (const char* setting = std::getenv(name)) return setting;
  return std::nullopt;
}

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

namespace {

// What NVIDIA's library says stands where neither has a device.
std::unique_ptr<GpuLibrary> library_here() {
  std::unique_ptr<GpuLibrary> nvidia = std::make_unique<Nvml>();
  if (nvidia->missing().empty()) return nvidia;
  std::unique_ptr<GpuLibrary> amd = std::make_unique<RocmSmi>();
  return amd->missing().empty() ? std::move(amd) : std::move(nvidia);
}

}  // namespace

GpuProbe::GpuProbe() : GpuProbe(library_here()) {}

GpuProbe::GpuProbe(std::unique_ptr<GpuLibrary> library)
    : library_(std::move(library)), visible_(visible_gpus(visible_devices(), library_->read())) {}

std::set<ClockEvent> GpuProbe::observe() {
  if (visible_.empty()) return {};
  const std::lock_guard lock(mutex_);
  const auto events = library_->clock_events(visible_.front());
  seen_.insert(events.begin(), events.end());
  return {events.begin(), events.end()};
}

// HIP knows devices by number; CUDA also by UUID, which stays when one is taken out.
std::vector<std::string> GpuProbe::selections() const {
  const auto all = library_->read();
  std::vector<std::string> out;
  for (const std::size_t index : visible_) {
    const bool by_uuid = selector() == "CUDA_VISIBLE_DEVICES" && !all.at(index).uuid.empty();
    out.push_back(by_uuid ? all.at(index).uuid : std::to_string(index));
  }
  return out;
}

std::vector<GpuState> GpuProbe::read() {
  const std::lock_guard lock(mutex_);
  const auto all = library_->read();
  std::vector<GpuState> out;
  for (const std::size_t index : visible_)
    library_->read_traffic(index, out.emplace_back(all.at(index)));
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
    } while (wait_for(observe_every, stop));
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
