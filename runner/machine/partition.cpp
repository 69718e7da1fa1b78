#include "runner/machine/partition.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <stdexcept>

#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

bool holds(const std::vector<int>& cpus, int cpu) {
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

// Returns those of `cpus` that are next to the device, in the order of `cpus`.
std::vector<int> near(const std::vector<int>& cpus, const std::vector<int>& local) {
  std::vector<int> out;
  for (const int cpu : cpus)
    if (holds(local, cpu)) out.push_back(cpu);
  return out;
}

}  // namespace

std::vector<std::vector<int>> divide_cpus(const std::vector<int>& cpus,
                                          const std::vector<std::vector<int>>& local) {
  if (local.empty()) return {};
  if (cpus.size() < local.size())
    throw std::invalid_argument(std::to_string(local.size()) + " devices need as many CPUs, and " +
                                std::to_string(cpus.size()) + " may be used here");
  std::map<std::vector<int>, std::size_t> sharers;  // devices with the same CPUs next to them
  for (const std::vector<int>& one : local) ++sharers[near(cpus, one)];
  std::size_t each = cpus.size() / local.size();
  for (const auto& [nearby, devices] : sharers) each = std::min(each, nearby.size() / devices);
  const bool by_place = each > 0;
  if (!by_place) each = cpus.size() / local.size();
  if (each > 1) each -= each % 2;  // whole cores, where each has two threads
  std::set<int> given;
  std::vector<std::vector<int>> out;
  for (const std::vector<int>& one : local) {
    std::vector<int>& mine = out.emplace_back();
    for (const int cpu : by_place ? near(cpus, one) : cpus)
      if (mine.size() < each && given.insert(cpu).second) mine.push_back(cpu);
    std::sort(mine.begin(), mine.end());
  }
  return out;
}

std::vector<int> by_core(std::vector<int> cpus) {
  std::map<int, int> first;  // thread of its core
  for (const int cpu : cpus) {
    const auto threads = parse_cpu_list(read_line(
        "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list"));
    first[cpu] = threads.empty() ? cpu : threads.front();
  }
  std::stable_sort(cpus.begin(), cpus.end(), [&](int a, int b) { return first[a] < first[b]; });
  return cpus;
}

// NVML has eight digits of the domain and capitals, /sys four and small letters.
std::string sys_name(const std::string& pci_bus) {
  std::string bus = pci_bus.size() > 12 ? pci_bus.substr(pci_bus.size() - 12) : pci_bus;
  std::transform(bus.begin(), bus.end(), bus.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return bus;
}

std::vector<int> cpus_near(const std::string& pci_bus) {
  return parse_cpu_list(read_line(fs::path(pci_folder) / sys_name(pci_bus) / "local_cpulist"));
}

std::vector<std::string> devices_like(const std::string& pci_bus, const fs::path& devices) {
  const auto kind_of = [](const fs::path& device) {
    return read_line(device / "vendor") + " " + read_line(device / "class");
  };
  const std::string kind = kind_of(devices / sys_name(pci_bus));
  std::vector<std::string> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(devices, none))
    if (kind != " " && kind_of(entry.path()) == kind) found.push_back(entry.path().filename());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  const char *at = text.data(), *const end = text.data() + text.size();
  while (at < end) {
    int first = 0;
    auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc()) return {};
    int last = first;
    if (next < end && *next == '-') {
      const auto read = std::from_chars(next + 1, end, last);
      if (read.ec != std::errc()) return {};
      next = read.ptr;
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (next < end && *next != ',') return {};
    at = next + 1;
  }
  return cpus;
}

}  // namespace nightjar::runner
