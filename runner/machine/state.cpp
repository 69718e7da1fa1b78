#include "runner/machine/state.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// Reads the frequencies from cpufreq if the machine shows it, else from /proc/cpuinfo; 0: unknown.
double mean_frequency_mhz() {
  double sum = 0;
  int count = 0;
  for (int cpu = 0; cpu < 4096; ++cpu) {
    const auto folder = fs::path("/sys/devices/system/cpu") / ("cpu" + std::to_string(cpu));
    const std::string line = read_line(folder / "cpufreq/scaling_cur_freq");
    if (line.empty()) break;
    sum += std::strtod(line.c_str(), nullptr) / 1000;
    ++count;
  }
  if (count > 0) return sum / count;
  std::istringstream in(read_file("/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("cpu MHz")) {
      sum += std::strtod(line.c_str() + line.find(':') + 1, nullptr);
      ++count;
    }
  return count > 0 ? sum / count : 0;
}

void add_throttling(std::map<std::string, std::string>& extra) {
  long long throttled = 0;
  bool known = false;
  for (int cpu = 0; cpu < 4096; ++cpu) {
    const auto folder = fs::path("/sys/devices/system/cpu") / ("cpu" + std::to_string(cpu));
    const std::string line = read_line(folder / "thermal_throttle/core_throttle_count");
    if (line.empty()) break;
    throttled += std::atoll(line.c_str());
    known = true;
  }
  if (known) extra["cpu_throttle_count"] = std::to_string(throttled);
  const std::string heat = read_line("/sys/class/thermal/thermal_zone0/temp");
  if (!heat.empty()) extra["temperature_millicelsius"] = heat;
}

}  // namespace

MachineProbe::MachineProbe() : before_(cpu_time()) {}

MachineProbe::CpuTime MachineProbe::cpu_time() {
  // "cpu user nice system idle iowait irq softirq steal ..."
  std::istringstream in(read_line("/proc/stat"));
  std::string label;
  in >> label;
  CpuTime time;
  std::int64_t value = 0;
  for (int field = 0; field < 8 && in >> value; ++field) {
    time.total += value;
    if (field == 7) time.steal = value;
  }
  return time;
}

MachineState MachineProbe::read() {
  MachineState state;
  state.load1 = std::strtod(read_line("/proc/loadavg").c_str(), nullptr);
  const CpuTime now = cpu_time();
  if (now.total > before_.total)
    state.steal_share = static_cast<double>(now.steal - before_.steal) /
                        static_cast<double>(now.total - before_.total);
  before_ = now;
  state.frequency_mhz = mean_frequency_mhz();
  add_throttling(state.extra);
  state.gpus = gpus_.read();
  return state;
}

}  // namespace nightjar::runner
