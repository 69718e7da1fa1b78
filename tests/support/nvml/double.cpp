// A stand-in for libnvidia-ml.so.1 without a device: it plays the file that NVML_DOUBLE names, and
// is as strict as the real one about order of calls, handles, sizes and versions. With OLD_DRIVER
// it lacks what drivers before 535 lack.
//
//   driver 580.65.06
//   gpu name=H100 uuid=GPU-0a bus=00000000:3B:00.0 sm=1980 memory=2619 power=310500 celsius=64
//   ecc=0
//       total=85899345920 mig=0 virtual=0 persistence=1 events=0x1,0x40 processes=4242:1073741824
//       pcie=1200:800 nvlink=2048:1024
//
// on one line a GPU. A value that is not there is not supported by that device; of `events` each
// reading takes the next, and the last stays. `pcie`: kB/s sent and received, each of which takes
// 20 ms to read. `nvlink`: KiB/s. `init=9` on a line of its own: nvmlInit_v2 answers that.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runner/machine/nvml_abi.hpp"

using namespace nightjar::runner::nvml;

static_assert(sizeof(Memory) == 24 && sizeof(ProcessInfo) == 24 && sizeof(PciInfo) == 68 &&
              sizeof(Temperature) == 12 && sizeof(FieldValue) == 40);

namespace {

struct Gpu {
  std::map<std::string, std::string> values;
  std::size_t read = 0;  // events so far
};

struct World {
  int initialized = 0, init_answer = 0;
  std::string driver;
  std::vector<Gpu> gpus;
} world;

void load() {
  world = {};
  std::ifstream file(std::getenv("NVML_DOUBLE") ? std::getenv("NVML_DOUBLE") : "");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "driver") words >> world.driver;
    if (kind.starts_with("init=")) world.init_answer = std::atoi(kind.c_str() + 5);
    if (kind != "gpu") continue;
    Gpu gpu;
    for (std::string word; words >> word;)
      gpu.values[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    world.gpus.push_back(gpu);
  }
}

Device handle_of(std::size_t index) {
  return reinterpret_cast<Device>(0x1000 + index);
}

// success with the device's text of `name`, or what the real library would answer.
int find(Device device, const void* out, const char* name, std::string& text) {
  if (world.initialized == 0) return uninitialized;
  const auto index = reinterpret_cast<std::size_t>(device) - 0x1000;
  if (!out || index >= world.gpus.size()) return invalid_argument;
  const auto found = world.gpus[index].values.find(name);
  if (found == world.gpus[index].values.end()) return not_supported;
  text = found->second;
  return success;
}

int copy(const std::string& text, char* out, unsigned bytes) {
  if (bytes <= text.size()) return insufficient_size;
  std::strcpy(out, text.c_str());
  return success;
}

template <class Number>
int number(Device device, const char* name, Number* out) {
  std::string text;
  const int answer = find(device, out, name, text);
  if (answer == success) *out = static_cast<Number>(std::stoull(text, nullptr, 0));
  return answer;
}

int events_of(Device device, unsigned long long* out) {
  std::string text;
  if (const int answer = find(device, out, "events", text); answer != success) return answer;
  auto& read = world.gpus[reinterpret_cast<std::size_t>(device) - 0x1000].read;
  std::size_t at = 0;
  for (std::size_t i = 0; i < read && text.find(',', at) != std::string::npos; ++i)
    at = text.find(',', at) + 1;
  ++read;
  *out = std::stoull(text.substr(at), nullptr, 0);
  return success;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (world.initialized == 0) load();
  if (world.init_answer == 0) ++world.initialized;
  return world.init_answer;
}

int nvmlShutdown() {
  if (world.initialized == 0) return uninitialized;
  --world.initialized;
  return success;
}

const char* nvmlErrorString(int answer) {
  return answer == driver_not_loaded ? "Driver Not Loaded" : "Some Error";
}

int nvmlSystemGetDriverVersion(char* out, unsigned bytes) {
  if (world.initialized == 0) return uninitialized;
  return out ? copy(world.driver, out, bytes) : invalid_argument;
}

int nvmlDeviceGetCount_v2(unsigned* out) {
  if (world.initialized == 0) return uninitialized;
  if (!out) return invalid_argument;
  *out = static_cast<unsigned>(world.gpus.size());
  return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* out) {
  if (world.initialized == 0) return uninitialized;
  if (!out || index >= world.gpus.size()) return invalid_argument;
  *out = handle_of(index);
  return success;
}

int nvmlDeviceGetName(Device device, char* out, unsigned bytes) {
  std::string text;
  const int answer = find(device, out, "name", text);
  return answer == success ? copy(text, out, bytes) : answer;
}

int nvmlDeviceGetUUID(Device device, char* out, unsigned bytes) {
  std::string text;
  const int answer = find(device, out, "uuid", text);
  return answer == success ? copy(text, out, bytes) : answer;
}

int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* out) {
  std::string text;
  const int answer = find(device, out, "bus", text);
  return answer == success ? copy(text, out->bus_id, sizeof out->bus_id) : answer;
}

int nvmlDeviceGetClockInfo(Device device, int kind, unsigned* out) {
  if (kind < 0 || kind > 3) return invalid_argument;
  return number(device, kind == clock_sm ? "sm" : kind == clock_memory ? "memory" : "other", out);
}

int nvmlDeviceGetPowerUsage(Device device, unsigned* out) {
  return number(device, "power", out);
}

int nvmlDeviceGetTemperature(Device device, int sensor, unsigned* out) {
  return sensor == temperature_gpu ? number(device, "celsius", out) : invalid_argument;
}

int nvmlDeviceGetTotalEccErrors(Device device, int kind, int counter, unsigned long long* out) {
  if (kind < 0 || kind > 1 || counter < 0 || counter > 1) return invalid_argument;
  return number(device, kind == error_uncorrected && counter == volatile_ecc ? "ecc" : "other",
                out);
}

int nvmlDeviceGetPersistenceMode(Device device, int* out) {
  return number(device, "persistence", out);
}

int nvmlDeviceGetMemoryInfo(Device device, Memory* out) {
  const int answer = number(device, "total", out ? &out->total : nullptr);
  if (answer == success) out->used = 0, out->free = out->total;
  return answer;
}

int nvmlDeviceGetMigMode(Device device, unsigned* now, unsigned* later) {
  if (!later) return invalid_argument;
  const int answer = number(device, "mig", now);
  if (answer == success) *later = *now;
  return answer;
}

int nvmlDeviceGetVirtualizationMode(Device device, int* out) {
  return number(device, "virtual", out);
}

int nvmlDeviceGetPcieThroughput(Device device, int counter, unsigned* out) {
  if (counter != pcie_sent && counter != pcie_received) return invalid_argument;
  std::string text;
  if (const int answer = find(device, out, "pcie", text); answer != success) return answer;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  *out =
      static_cast<unsigned>(std::stoul(text.substr(counter == pcie_sent ? 0 : text.find(':') + 1)));
  return success;
}

int nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  if (count <= 0) return invalid_argument;
  std::string text;
  const int answer = find(device, values, "nvlink", text);
  if (answer == uninitialized || answer == invalid_argument) return answer;
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  for (int i = 0; i < count; ++i) {
    FieldValue& one = values[i];
    const bool known = (one.field == nvlink_sent || one.field == nvlink_received) &&
                       one.scope == all_links && answer == success;
    one.answer = known ? success : not_supported;
    if (!known) continue;
    const auto rate = std::stoull(text.substr(one.field == nvlink_sent ? 0 : text.find(':') + 1));
    one.timestamp = now;
    one.value = static_cast<unsigned long long>(now) * rate / 1'000'000;
  }
  return success;
}

int nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count, ProcessInfo* out) {
  std::string text;
  const int answer = find(device, count, "processes", text);
  if (answer == not_supported) *count = 0;
  if (answer != success) return answer == not_supported ? success : answer;
  std::vector<ProcessInfo> list;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');)
    list.push_back({static_cast<unsigned>(std::stoul(item)),
                    std::stoull(item.substr(item.find(':') + 1)), ~0u, ~0u});
  const bool fits = out && list.size() <= *count;
  *count = static_cast<unsigned>(list.size());
  if (!fits) return insufficient_size;
  std::copy(list.begin(), list.end(), out);
  return success;
}

#ifdef OLD_DRIVER
int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* out) {
  return events_of(device, out);
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* out) {
  return events_of(device, out);
}

int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, ProcessInfo* out) {
  return nvmlDeviceGetComputeRunningProcesses_v2(device, count, out);
}

int nvmlDeviceGetTemperatureV(Device device, Temperature* out) {
  if (out && out->version != temperature_version) return argument_version_mismatch;
  if (out && out->sensor != temperature_gpu) return invalid_argument;
  return number(device, "celsius", out ? &out->celsius : nullptr);
}
#endif

}  // extern "C"
