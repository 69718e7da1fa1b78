#include "runner/machine/rocm_smi.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <iterator>

#include "runner/machine/rocm_smi_abi.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace {

constexpr std::array names = {"librocm_smi64.so.1", "librocm_smi64.so.7", "librocm_smi64.so.6",
                              "librocm_smi64.so.5", "librocm_smi64.so"};

// "0000:c1:00.0" of domain, bus, device and function as the library packs them.
std::string bus_of(std::uint64_t packed) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%08x:%02x:%02x.%x", static_cast<unsigned>(packed >> 32),
                static_cast<unsigned>(packed >> 8 & 0xff),
                static_cast<unsigned>(packed >> 3 & 0x1f), static_cast<unsigned>(packed & 7));
  return text.data();
}

void* opened(const std::filesystem::path& library) {
  if (!library.empty()) return ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* name : names)
    if (void* found = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
  return nullptr;
}

template <class Values>
std::optional<double> current_mhz(const Values& values) {
  // The library says "none of them" by an index out of range.
  if (values.current >= values.supported || values.current >= std::size(values.hertz))
    return std::nullopt;
  return static_cast<double>(values.hertz[values.current]) * 1e-6;
}

}  // namespace

struct RocmSmi::Library {
  int (*init)(std::uint64_t) = nullptr;
  int (*shut_down)() = nullptr;
  int (*status_string)(int, const char**) = nullptr;
  int (*version)(rocm::Version*) = nullptr;
  int (*version_string)(int, char*, std::uint32_t) = nullptr;
  int (*device_count)(std::uint32_t*) = nullptr;
  int (*name)(std::uint32_t, char*, std::size_t) = nullptr;
  int (*unique_id)(std::uint32_t, std::uint64_t*) = nullptr;
  int (*pci_id)(std::uint32_t, std::uint64_t*) = nullptr;
  int (*memory_total)(std::uint32_t, int, std::uint64_t*) = nullptr;
  int (*clock)(std::uint32_t, int, void*) = nullptr;
  int (*power)(std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;
  int (*temperature)(std::uint32_t, std::uint32_t, int, std::int64_t*) = nullptr;
  int (*errors)(std::uint32_t, std::uint64_t, rocm::ErrorCount*) = nullptr;
  int (*level)(std::uint32_t, int*) = nullptr;
  int (*partition)(std::uint32_t, char*, std::uint32_t) = nullptr;
  int (*processes)(rocm::Process*, std::uint32_t*) = nullptr;

  bool initialized = false;
  bool new_frequencies = false;
  std::string driver;
  struct Found {
    std::uint32_t index;
    std::string bus;
  };
  std::vector<Found> devices;

  bool find_in(void* library) {
    const auto find = [&]<class Function>(Function& function, const char* symbol) {
      function = reinterpret_cast<Function>(::dlsym(library, symbol));
    };
    find(init, "rsmi_init");
    find(shut_down, "rsmi_shut_down");
    find(status_string, "rsmi_status_string");
    find(version, "rsmi_version_get");
    find(version_string, "rsmi_version_str_get");
    find(device_count, "rsmi_num_monitor_devices");
    find(name, "rsmi_dev_name_get");
    find(unique_id, "rsmi_dev_unique_id_get");
    find(pci_id, "rsmi_dev_pci_id_get");
    find(memory_total, "rsmi_dev_memory_total_get");
    find(clock, "rsmi_dev_gpu_clk_freq_get");
    find(power, "rsmi_dev_power_ave_get");
    find(temperature, "rsmi_dev_temp_metric_get");
    find(errors, "rsmi_dev_ecc_count_get");
    find(level, "rsmi_dev_perf_level_get");
    find(partition, "rsmi_dev_compute_partition_get");
    find(processes, "rsmi_compute_process_info_get");
    return init && shut_down && device_count && version;
  }

  void find_devices() {
    rocm::Version now{};
    new_frequencies = version(&now) == rocm::success && now.major >= rocm::frequencies_since;
    std::array<char, rocm::name_bytes> text{};
    if (version_string &&
        version_string(rocm::driver_component, text.data(), rocm::name_bytes) == rocm::success)
      driver = text.data();
    std::uint32_t count = 0;
    if (device_count(&count) != rocm::success) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint64_t packed = 0;
      const bool known = pci_id && pci_id(i, &packed) == rocm::success;
      devices.push_back({i, known ? bus_of(packed) : ""});
    }
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Found& a, const Found& b) { return a.bus < b.bus; });
  }

  std::optional<double> clock_mhz(std::uint32_t device, int kind) const {
    if (!clock) return std::nullopt;
    if (new_frequencies) {
      rocm::Frequencies values{};
      return clock(device, kind, &values) == rocm::success ? current_mhz(values) : std::nullopt;
    }
    rocm::OldFrequencies values{};
    return clock(device, kind, &values) == rocm::success ? current_mhz(values) : std::nullopt;
  }

  std::optional<double> celsius(std::uint32_t device) const {
    for (const std::uint32_t sensor : {rocm::junction_sensor, rocm::edge_sensor}) {
      std::int64_t thousandths = 0;
      if (temperature &&
          temperature(device, sensor, rocm::temperature_now, &thousandths) == rocm::success)
        return static_cast<double>(thousandths) * 1e-3;
    }
    return std::nullopt;
  }

  std::optional<std::int64_t> uncorrected(std::uint32_t device) const {
    std::optional<std::int64_t> sum;
    for (const std::uint64_t block : {rocm::memory_block, rocm::graphics_block}) {
      rocm::ErrorCount count{};
      if (errors && errors(device, block, &count) == rocm::success)
        sum = sum.value_or(0) + static_cast<std::int64_t>(count.uncorrectable);
    }
    return sum;
  }

  std::vector<GpuProcess> all_processes() const {
    std::uint32_t count = 0;
    if (!processes || processes(nullptr, &count) != rocm::success) return {};
    std::vector<rocm::Process> list(count + 16);
    count = static_cast<std::uint32_t>(list.size());
    if (processes(list.data(), &count) != rocm::success) return {};
    std::vector<GpuProcess> out;
    for (std::uint32_t i = 0; i < std::min<std::size_t>(count, list.size()); ++i)
      out.push_back({list[i].pid, read_line("/proc/" + std::to_string(list[i].pid) + "/comm"),
                     static_cast<std::int64_t>(list[i].vram_bytes)});
    return out;
  }
};

RocmSmi::RocmSmi(const std::filesystem::path& library) : library_(std::make_unique<Library>()) {
  void* const found = opened(library);  // never closed, as NVML
  if (!found) return;
  if (!library_->find_in(found)) {
    missing_ = "AMD's library " + library.string() + " is too old";
    return;
  }
  if (const int answer = library_->init(0); answer != rocm::success) {
    const char* text = nullptr;
    const bool said =
        library_->status_string && library_->status_string(answer, &text) == rocm::success && text;
    missing_ = "AMD's library says: " + (said ? std::string(text) : std::to_string(answer));
    return;
  }
  library_->initialized = true;
  library_->find_devices();
  if (!library_->devices.empty()) missing_.clear();
}

RocmSmi::~RocmSmi() {
  if (library_->initialized) library_->shut_down();
}

std::vector<GpuState> RocmSmi::read() const {
  const Library& lib = *library_;
  const auto processes = lib.devices.empty() ? std::vector<GpuProcess>() : lib.all_processes();
  std::vector<GpuState> out;
  for (std::size_t i = 0; i < lib.devices.size(); ++i) {
    const std::uint32_t device = lib.devices[i].index;
    GpuState gpu;
    std::array<char, rocm::name_bytes> text{};
    if (lib.name && lib.name(device, text.data(), text.size()) == rocm::success)
      gpu.name = text.data();
    std::uint64_t number = 0;
    if (lib.unique_id && lib.unique_id(device, &number) == rocm::success) {
      std::snprintf(text.data(), text.size(), "GPU-%016llx",
                    static_cast<unsigned long long>(number));  // as ROCR_VISIBLE_DEVICES has it
      gpu.uuid = text.data();
    }
    gpu.pci_bus = lib.devices[i].bus;
    gpu.driver = lib.driver;
    gpu.sm_mhz = lib.clock_mhz(device, rocm::clock_system);
    gpu.memory_mhz = lib.clock_mhz(device, rocm::clock_memory);
    if (lib.power && lib.power(device, 0, &number) == rocm::success)
      gpu.power_watts = static_cast<double>(number) * 1e-6;
    gpu.temperature_celsius = lib.celsius(device);
    gpu.ecc_errors = lib.uncorrected(device);
    if (lib.memory_total && lib.memory_total(device, rocm::vram_heap, &number) == rocm::success)
      gpu.memory_bytes = static_cast<std::int64_t>(number);
    // "SPX" is one partition; DPX, QPX and CPX cut the device into several.
    if (lib.partition && lib.partition(device, text.data(), rocm::name_bytes) == rocm::success)
      gpu.mig = std::string(text.data()) != "SPX";
    gpu.clock_events = clock_events(i);
    gpu.others = processes;
    out.push_back(std::move(gpu));
  }
  return out;
}

std::vector<ClockEvent> RocmSmi::clock_events(std::size_t index) const {
  const Library& lib = *library_;
  int level = rocm::automatic_level;
  if (!lib.level || lib.level(lib.devices.at(index).index, &level) != rocm::success) return {};
  if (level >= rocm::stable_standard && level <= rocm::determinism)
    return {ClockEvent::applications_clocks_setting};
  return {};
}

}  // namespace nightjar::runner
