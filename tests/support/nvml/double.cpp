// A stand-in for libnvidia-ml.so.1 without a device: it plays the file that NVML_DOUBLE names, and
// is as strict as the real one about order of calls, handles, sizes and versions. With OLD_DRIVER
// it lacks what drivers before 535 lack.
//
//   driver 580.65.06
//   gpu name=H100 uuid=GPU-0a bus=00000000:3B:00.0 sm=1980 memory=2619 power=310500 celsius=64
//   ecc=0
//       total=85899345920 mig=0 virtual=0 persistence=1 events=0x1,0x40 processes=4242:1073741824
//
// on one line a GPU. A value that is not there is not supported by that device; of `events` each
// reading takes the next, and the last stays. `init=9` on a line of its own: nvmlInit_v2 answers
// that.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runner/machine/nvml_abi.hpp"

using namespace nightjar::runner::nvml;

static_assert(sizeof(Memory) == 24 && sizeof(ProcessInfo) == 24 && sizeof(PciInfo) == 68 &&
              sizeof(Temperature) == 12);

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

// kSuccess with the device's text of `name`, or what the real library would answer.
int find(Device device, const void* out, const char* name, std::string& text) {
  if (world.initialized == 0) return kUninitialized;
  const auto index = reinterpret_cast<std::size_t>(device) - 0x1000;
  if (!out || index >= world.gpus.size()) return kInvalidArgument;
  const auto found = world.gpus[index].values.find(name);
  if (found == world.gpus[index].values.end()) return kNotSupported;
  text = found->second;
  return kSuccess;
}

int copy(const std::string& text, char* out, unsigned bytes) {
  if (bytes <= text.size()) return kInsufficientSize;
  std::strcpy(out, text.c_str());
  return kSuccess;
}

template <class Number>
int number(Device device, const char* name, Number* out) {
  std::string text;
  const int answer = find(device, out, name, text);
  if (answer == kSuccess) *out = static_cast<Number>(std::stoull(text, nullptr, 0));
  return answer;
}

int events_of(Device device, unsigned long long* out) {
  std::string text;
  if (const int answer = find(device, out, "events", text); answer != kSuccess) return answer;
  auto& read = world.gpus[reinterpret_cast<std::size_t>(device) - 0x1000].read;
  std::size_t at = 0;
  for (std::size_t i = 0; i < read && text.find(',', at) != std::string::npos; ++i)
    at = text.find(',', at) + 1;
  ++read;
  *out = std::stoull(text.substr(at), nullptr, 0);
  return kSuccess;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (world.initialized == 0) load();
  if (world.init_answer == 0) ++world.initialized;
  return world.init_answer;
}

int nvmlShutdown() {
  if (world.initialized == 0) return kUninitialized;
  --world.initialized;
  return kSuccess;
}

const char* nvmlErrorString(int answer) {
  return answer == kDriverNotLoaded ? "Driver Not Loaded" : "Some Error";
}

int nvmlSystemGetDriverVersion(char* out, unsigned bytes) {
  if (world.initialized == 0) return kUninitialized;
  return out ? copy(world.driver, out, bytes) : kInvalidArgument;
}

int nvmlDeviceGetCount_v2(unsigned* out) {
  if (world.initialized == 0) return kUninitialized;
  if (!out) return kInvalidArgument;
  *out = static_cast<unsigned>(world.gpus.size());
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* out) {
  if (world.initialized == 0) return kUninitialized;
  if (!out || index >= world.gpus.size()) return kInvalidArgument;
  *out = handle_of(index);
  return kSuccess;
}

int nvmlDeviceGetName(Device device, char* out, unsigned bytes) {
  std::string text;
  const int answer = find(device, out, "name", text);
  return answer == kSuccess ? copy(text, out, bytes) : answer;
}

int nvmlDeviceGetUUID(Device device, char* out, unsigned bytes) {
  std::string text;
  const int answer = find(device, out, "uuid", text);
  return answer == kSuccess ? copy(text, out, bytes) : answer;
}

int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* out) {
  std::string text;
  const int answer = find(device, out, "bus", text);
  return answer == kSuccess ? copy(text, out->bus_id, sizeof out->bus_id) : answer;
}

int nvmlDeviceGetClockInfo(Device device, int kind, unsigned* out) {
  if (kind < 0 || kind > 3) return kInvalidArgument;
  return number(device, kind == kClockSm ? "sm" : kind == kClockMemory ? "memory" : "other", out);
}

int nvmlDeviceGetPowerUsage(Device device, unsigned* out) {
  return number(device, "power", out);
}

int nvmlDeviceGetTemperature(Device device, int sensor, unsigned* out) {
  return sensor == kTemperatureGpu ? number(device, "celsius", out) : kInvalidArgument;
}

int nvmlDeviceGetTotalEccErrors(Device device, int kind, int counter, unsigned long long* out) {
  if (kind < 0 || kind > 1 || counter < 0 || counter > 1) return kInvalidArgument;
  return number(device, kind == kErrorUncorrected && counter == kVolatileEcc ? "ecc" : "other",
                out);
}

int nvmlDeviceGetPersistenceMode(Device device, int* out) {
  return number(device, "persistence", out);
}

int nvmlDeviceGetMemoryInfo(Device device, Memory* out) {
  const int answer = number(device, "total", out ? &out->total : nullptr);
  if (answer == kSuccess) out->used = 0, out->free = out->total;
  return answer;
}

int nvmlDeviceGetMigMode(Device device, unsigned* now, unsigned* later) {
  if (!later) return kInvalidArgument;
  const int answer = number(device, "mig", now);
  if (answer == kSuccess) *later = *now;
  return answer;
}

int nvmlDeviceGetVirtualizationMode(Device device, int* out) {
  return number(device, "virtual", out);
}

int nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count, ProcessInfo* out) {
  std::string text;
  const int answer = find(device, count, "processes", text);
  if (answer == kNotSupported) *count = 0;
  if (answer != kSuccess) return answer == kNotSupported ? kSuccess : answer;
  std::vector<ProcessInfo> list;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');)
    list.push_back({static_cast<unsigned>(std::stoul(item)),
                    std::stoull(item.substr(item.find(':') + 1)), ~0u, ~0u});
  const bool fits = out && list.size() <= *count;
  *count = static_cast<unsigned>(list.size());
  if (!fits) return kInsufficientSize;
  std::copy(list.begin(), list.end(), out);
  return kSuccess;
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
  if (out && out->version != kTemperatureVersion) return kArgumentVersionMismatch;
  if (out && out->sensor != kTemperatureGpu) return kInvalidArgument;
  return number(device, "celsius", out ? &out->celsius : nullptr);
}
#endif

}  // extern "C"
