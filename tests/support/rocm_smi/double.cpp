// A stand-in for librocm_smi64.so without a device: it plays the file that ROCM_SMI_DOUBLE names,
// and is as strict as the real one about order of calls, indices and sizes. With OLD_LIBRARY it is
// that of ROCm 5: other frequencies, and no partitions.
//
//   driver 6.10.5
//   gpu name=MI300X id=a1b2 pci=0x000000010000c100 vram=206141652992 system=500,2100*
//       memory=900,1300* watts=310.5 junction=64.5 umc=3 gfx=1 level=4 partition=SPX
//   process 4242:1073741824
//
// on one line a GPU. A value that is not there is not supported by that device; `*` marks the
// current one of its clocks. `init=8` on a line of its own: rsmi_init answers that.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runner/machine/rocm_smi_abi.hpp"

using namespace nightjar::runner::rocm;

namespace {

using Values = std::map<std::string, std::string>;

struct World {
  bool initialized = false;
  int init_answer = 0;
  std::string driver;
  std::vector<Values> gpus;
  std::vector<Process> processes;
} world;

void load() {
  world = {};
  std::ifstream file(std::getenv("ROCM_SMI_DOUBLE") ? std::getenv("ROCM_SMI_DOUBLE") : "");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, word;
    words >> kind;
    if (kind == "driver") words >> world.driver;
    if (kind.starts_with("init=")) world.init_answer = std::atoi(kind.c_str() + 5);
    if (kind == "process" && words >> word)
      world.processes.push_back({static_cast<std::uint32_t>(std::stoul(word)), 0,
                                 std::stoull(word.substr(word.find(':') + 1)), 0, 0});
    if (kind != "gpu") continue;
    Values gpu;
    while (words >> word) gpu[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    world.gpus.push_back(gpu);
  }
}

// success with the device's text of `name`, or what the real library would answer.
int find(std::uint32_t device, const void* out, const char* name, std::string& text) {
  if (!world.initialized) return init_error;
  if (device >= world.gpus.size() || !out) return invalid_arguments;
  const auto found = world.gpus[device].find(name);
  if (found == world.gpus[device].end()) return not_supported;
  text = found->second;
  return success;
}

int copy(const std::string& text, char* out, std::size_t bytes) {
  std::strncpy(out, text.c_str(), bytes);
  return bytes > text.size() ? success : 11;  // RSMI_STATUS_INSUFFICIENT_SIZE
}

template <class Number>
int number(std::uint32_t device, const char* name, double unit, Number* out) {
  std::string text;
  const int answer = find(device, out, name, text);
  if (answer == success && unit == 1)
    *out = static_cast<Number>(std::stoull(text, nullptr, 0));
  else if (answer == success)
    *out = static_cast<Number>(std::stod(text) * unit);
  return answer;
}

template <class Filled>
int fill(const std::string& text, Filled& out) {
  out = {};
  out.current = sizeof out.hertz / sizeof out.hertz[0] + 1;  // none, until one is marked
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    if (item.ends_with('*')) out.current = out.supported;
    out.hertz[out.supported++] = std::stoull(item) * 1'000'000;
  }
  return success;
}

}  // namespace

extern "C" {

int rsmi_init(std::uint64_t flags) {
  if (flags > 1) return invalid_arguments;
  load();
  world.initialized = world.init_answer == 0;
  return world.init_answer;
}

int rsmi_shut_down() {
  if (!world.initialized) return init_error;
  world.initialized = false;
  return success;
}

int rsmi_status_string(int status, const char** out) {
  if (!out) return invalid_arguments;
  *out = status == init_error ? "An error occurred during initialization" : "An error";
  return success;
}

int rsmi_version_get(Version* out) {
  if (!out) return invalid_arguments;
#ifdef OLD_LIBRARY
  *out = {5, 0, 0, "5.0"};
#else
  *out = {7, 3, 0, "7.3"};
#endif
  return success;
}

int rsmi_version_str_get(int component, char* out, std::uint32_t bytes) {
  return component == driver_component && out ? copy(world.driver, out, bytes) : invalid_arguments;
}

int rsmi_num_monitor_devices(std::uint32_t* out) {
  if (!world.initialized) return init_error;
  if (!out) return invalid_arguments;
  *out = static_cast<std::uint32_t>(world.gpus.size());
  return success;
}

int rsmi_dev_name_get(std::uint32_t device, char* out, std::size_t bytes) {
  std::string text;
  const int answer = find(device, out, "name", text);
  return answer == success ? copy(text, out, bytes) : answer;
}

int rsmi_dev_unique_id_get(std::uint32_t device, std::uint64_t* out) {
  std::string text;
  const int answer = find(device, out, "id", text);
  if (answer == success) *out = std::stoull(text, nullptr, 16);
  return answer;
}

int rsmi_dev_pci_id_get(std::uint32_t device, std::uint64_t* out) {
  return number(device, "pci", 1, out);
}

int rsmi_dev_memory_total_get(std::uint32_t device, int kind, std::uint64_t* out) {
  return kind < 0 || kind > 2 ? invalid_arguments
                              : number(device, kind == vram_heap ? "vram" : "gtt", 1, out);
}

int rsmi_dev_gpu_clk_freq_get(std::uint32_t device, int kind, void* out) {
  if (kind < 0 || kind > 4) return invalid_arguments;
  std::string text;
  const char* name = kind == clock_system ? "system" : kind == clock_memory ? "memory" : "other";
  if (const int answer = find(device, out, name, text); answer != success) return answer;
#ifdef OLD_LIBRARY
  return fill(text, *static_cast<OldFrequencies*>(out));
#else
  return fill(text, *static_cast<Frequencies*>(out));
#endif
}

int rsmi_dev_power_ave_get(std::uint32_t device, std::uint32_t sensor, std::uint64_t* out) {
  return sensor == 0 ? number(device, "watts", 1e6, out) : invalid_arguments;
}

int rsmi_dev_temp_metric_get(std::uint32_t device, std::uint32_t sensor, int metric,
                             std::int64_t* out) {
  if (sensor > 6 || metric < 0 || metric > 15) return invalid_arguments;
  const char* name = sensor == junction_sensor ? "junction"
                     : sensor == edge_sensor   ? "edge"
                                               : "other";
  return number(device, metric == temperature_now ? name : "other", 1e3, out);
}

int rsmi_dev_ecc_count_get(std::uint32_t device, std::uint64_t block, ErrorCount* out) {
  const char* name = block == memory_block ? "umc" : block == graphics_block ? "gfx" : "other";
  return number(device, name, 1, out ? &out->uncorrectable : nullptr);
}

int rsmi_dev_perf_level_get(std::uint32_t device, int* out) {
  return number(device, "level", 1, out);
}

int rsmi_compute_process_info_get(Process* out, std::uint32_t* count) {
  if (!world.initialized) return init_error;
  if (!count) return invalid_arguments;
  const auto there = static_cast<std::uint32_t>(world.processes.size());
  const std::uint32_t room = *count;
  *count = there;
  for (std::uint32_t i = 0; out && i < std::min(room, there); ++i) out[i] = world.processes[i];
  return out && room < there ? 11 : success;
}

#ifndef OLD_LIBRARY
int rsmi_dev_compute_partition_get(std::uint32_t device, char* out, std::uint32_t bytes) {
  std::string text;
  const int answer = find(device, out, "partition", text);
  return answer == success ? copy(text, out, bytes) : answer;
}
#endif

}  // extern "C"
