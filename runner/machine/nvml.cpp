#include "runner/machine/nvml.hpp"

#include <algorithm>
#include <array>
#include <dlfcn.h>

#include "runner/machine/nvml_functions.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
struct Nvml::Library : nvml::Functions {
  bool initialized = false;
  struct Found {
    nvml::Device device;
    std::string bus;
  };
  std::vector<Found> devices;

  void find_devices() {
    unsigned count = 0;
    if (device_count(&count) != nvml::success) return;
    for (unsigned i = 0; i < count; ++i) {
      Found found{};
      nvml::PciInfo pci{};
      if (device_by_index(i, &found.device) != nvml::success) continue;
      if (pci_info && pci_info(found.device, &pci) == nvml::success) found.bus = pci.bus_id;
      devices.push_back(found);
    }
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Found& a, const Found& b) { return a.bus < b.bus; });
  }

  std::optional<double> number(int (*read)(nvml::Device, unsigned*), nvml::Device device,
                               double unit) const {
    unsigned value = 0;
    if (!read || read(device, &value) != nvml::success) return std::nullopt;
    return value * unit;
  }

  std::optional<double> clock_mhz(nvml::Device device, int kind) const {
    unsigned mhz = 0;
    if (!clock || clock(device, kind, &mhz) != nvml::success) return std::nullopt;
    return mhz;
  }

  std::optional<double> celsius(nvml::Device device) const {
    nvml::Temperature now{nvml::temperature_version, nvml::temperature_gpu, 0};
    if (temperature && temperature(device, &now) == nvml::success) return now.celsius;
    unsigned old = 0;
    if (old_temperature && old_temperature(device, nvml::temperature_gpu, &old) == nvml::success)
      return old;
    return std::nullopt;
  }

  std::optional<double> pcie_traffic(nvml::Device device) const {
    double sum = 0;
    for (const int direction : {nvml::pcie_sent, nvml::pcie_received}) {
      unsigned kilobytes = 0;
      if (!pcie_throughput || pcie_throughput(device, direction, &kilobytes) != nvml::success)
        return std::nullopt;
      sum += 1e3 * kilobytes;
    }
    return sum;
  }

  struct Counted {
    double bytes = 0;
    long long at = 0;  // microseconds
  };
  std::optional<Counted> nvlink_counter(nvml::Device device) const {
    std::array<nvml::FieldValue, 2> fields{};
    fields[0].field = nvml::nvlink_sent;
    fields[1].field = nvml::nvlink_received;
    for (nvml::FieldValue& field : fields) field.scope = nvml::all_links;
    if (!field_values || field_values(device, 2, fields.data()) != nvml::success)
      return std::nullopt;
    Counted out;
    for (const nvml::FieldValue& field : fields) {
      if (field.answer != nvml::success) return std::nullopt;
      out.bytes += 1024. * static_cast<double>(field.value);
      out.at = field.timestamp;
    }
    return out;
  }

  std::vector<GpuProcess> processes_on(nvml::Device device) const {
    std::vector<nvml::ProcessInfo> list(16);
    // The list may grow between being counted and being read.
    for (int attempt = 0; processes && attempt < 4; ++attempt) {
      auto count = static_cast<unsigned>(list.size());
      const int answer = processes(device, &count, list.data());
      if (answer == nvml::insufficient_size) {
        list.resize(count + 16);
        continue;
      }
      if (answer != nvml::success) break;
      std::vector<GpuProcess> out;
      for (unsigned i = 0; i < count; ++i) {
        GpuProcess process{
            list[i].pid, read_line("/proc/" + std::to_string(list[i].pid) + "/comm"), {}};
        if (~list[i].used_gpu_memory != 0)
          process.memory_bytes = static_cast<std::int64_t>(list[i].used_gpu_memory);
        out.push_back(std::move(process));
      }
      return out;
    }
    return {};
  }
};

namespace {

std::string driver_text(int (*read)(nvml::Device, char*, unsigned), nvml::Device device,
                        unsigned bytes) {
  std::array<char, 128> text{};
  return read && read(device, text.data(), bytes) == nvml::success ? text.data() : "";
}

}  // namespace

Nvml::Nvml(const std::filesystem::path& library) : library_(std::make_unique<Library>()) {
  // Never closed: NVML keeps threads and handlers of its own.
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) return;
  if (!library_->find_in(opened)) {
    missing_ = "the NVIDIA driver's library " + library.string() + " is too old";
    return;
  }
  if (const int answer = library_->init(); answer != nvml::success) {
    missing_ = "the NVIDIA driver's library says: " + std::string(library_->error_string(answer));
    return;
  }
  library_->initialized = true;
  library_->find_devices();
  if (!library_->devices.empty()) missing_.clear();
}

Nvml::~Nvml() {
  if (library_->initialized) library_->shutdown();
}

std::vector<GpuState> Nvml::read() const {
  const Library& lib = *library_;
  std::array<char, nvml::driver_bytes> driver{};
  if (lib.initialized && lib.driver_version) lib.driver_version(driver.data(), nvml::driver_bytes);
  std::vector<GpuState> out;
  for (std::size_t i = 0; i < lib.devices.size(); ++i) {
    const nvml::Device device = lib.devices[i].device;
    GpuState gpu;
    gpu.name = driver_text(lib.name, device, nvml::name_bytes);
    gpu.uuid = driver_text(lib.uuid, device, nvml::uuid_bytes);
    gpu.pci_bus = lib.devices[i].bus;
    gpu.driver = driver.data();
    gpu.sm_mhz = lib.clock_mhz(device, nvml::clock_sm);
    gpu.memory_mhz = lib.clock_mhz(device, nvml::clock_memory);
    gpu.power_watts = lib.number(lib.power, device, 1e-3);
    gpu.temperature_celsius = lib.celsius(device);
    unsigned long long errors = 0;
    if (lib.ecc &&
        lib.ecc(device, nvml::error_uncorrected, nvml::volatile_ecc, &errors) == nvml::success)
      gpu.ecc_errors = static_cast<std::int64_t>(errors);
    int mode = 0;
    if (lib.persistence && lib.persistence(device, &mode) == nvml::success)
      gpu.persistence = mode != 0;
    nvml::Memory memory{};
    if (lib.memory && lib.memory(device, &memory) == nvml::success)
      gpu.memory_bytes = static_cast<std::int64_t>(memory.total);
    unsigned parts = 0, later = 0;
    if (lib.mig && lib.mig(device, &parts, &later) == nvml::success)
      gpu.mig = parts == nvml::mig_enabled;
    if (lib.virtualization && lib.virtualization(device, &mode) == nvml::success)
      gpu.sliced = mode == nvml::virtualization_vgpu;
    gpu.clock_events = clock_events(i);
    gpu.others = lib.processes_on(device);
    out.push_back(std::move(gpu));
  }
  return out;
}

// PCIe is counted by the driver over 40 ms, NVLink from before to after that.
void Nvml::read_traffic(std::size_t index, GpuState& gpu) const {
  constexpr long long least_counted = 10'000;  // microseconds
  const nvml::Device device = library_->devices.at(index).device;
  const auto before = library_->nvlink_counter(device);
  gpu.pcie_traffic = library_->pcie_traffic(device);
  const auto after = before ? library_->nvlink_counter(device) : std::nullopt;
  if (after && after->at - before->at >= least_counted)
    gpu.nvlink_traffic =
        (after->bytes - before->bytes) / (1e-6 * static_cast<double>(after->at - before->at));
}

std::vector<ClockEvent> Nvml::clock_events(std::size_t index) const {
  unsigned long long bits = 0;
  if (!library_->events ||
      library_->events(library_->devices.at(index).device, &bits) != nvml::success)
    return {};
  constexpr int known = static_cast<int>(ClockEvent::unknown);
  std::vector<ClockEvent> out;
  for (int bit = 0; bit < known; ++bit)
    if (bits >> bit & 1) out.push_back(static_cast<ClockEvent>(bit));
  if (bits >> known) out.push_back(ClockEvent::unknown);
  return out;
}

}  // namespace nightjar::runner
