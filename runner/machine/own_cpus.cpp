#include "runner/machine/own_cpus.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sched.h>
#include <stdexcept>
#include <system_error>

#include "runner/machine/partition.hpp"
#include "runner/process/cpu_quota.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/wait.hpp"
#include "storage/base/log.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

constexpr mode_t anybody = 0666;  // agents of one node may be of several users
constexpr std::chrono::milliseconds choose_again{50};

std::string list_of(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return text;
}

// How many to keep to; 0: all.
std::size_t count_for(const CpuWish& wish, std::size_t allowed) {
  const auto quota = cpu_quota();
  if (wish.count == 0 && !quota) {
    if (wish.locks.empty()) return 0;
    throw WrongUse("--cpu-locks " + wish.locks.string() +
                   ": no CPU quota says how many CPUs this runner has; give --cpus");
  }
  const auto asked = static_cast<std::size_t>(
      wish.count > 0 ? wish.count : threads_within(quota, static_cast<int>(allowed)));
  if (asked > allowed)
    throw WrongUse("--cpus " + std::to_string(asked) + ": this runner may run on " +
                   std::to_string(allowed));
  return asked == allowed && wish.locks.empty() ? 0 : asked;
}

// Pods see all devices of their node in /sys, and each finds its own place among them.
std::vector<int> by_place(const std::vector<int>& cpus, const std::string& pci_bus,
                          std::size_t count) {
  const auto devices = devices_like(pci_bus);
  const auto own = std::ranges::find(devices, sys_name(pci_bus));
  if (own == devices.end()) return {};
  std::vector<std::vector<int>> local;
  for (const std::string& device : devices) local.push_back(cpus_near(device));
  return share_of_device(cpus, local, static_cast<std::size_t>(own - devices.begin()), count);
}

// The CPUs with those next to the device last.
std::vector<int> near_last(std::vector<int> cpus, const std::string& pci_bus) {
  const auto local = pci_bus.empty() ? std::vector<int>{} : cpus_near(pci_bus);
  std::ranges::stable_partition(
      cpus, [&](int cpu) { return std::ranges::find(local, cpu) == local.end(); });
  return cpus;
}

void pin_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    throw std::system_error(errno, std::generic_category(),
                            "cannot keep this runner to the CPUs " + list_of(cpus));
}

}  // namespace

OwnCpus lock_cpus(const fs::path& folder, const std::vector<int>& cpus, std::size_t count) {
  fs::create_directories(folder);
  FileLock choice(folder / "choice", anybody);  // two that choose at once would mix their CPUs
  while (!choice.try_lock("chooses CPUs")) wait_for(choose_again, {});
  OwnCpus own;
  for (auto cpu = cpus.rbegin(); cpu != cpus.rend() && own.cpus.size() < count; ++cpu) {
    FileLock lock(folder / ("cpu" + std::to_string(*cpu)), anybody);
    if (!lock.try_lock("keeps to this CPU")) continue;
    own.cpus.push_back(*cpu);
    own.locks.push_back(std::move(lock));
  }
  if (own.cpus.size() < count)
    throw std::runtime_error("cannot take " + std::to_string(count) + " CPUs: other runners of " +
                             "this node left " + std::to_string(own.cpus.size()) + " of " +
                             std::to_string(cpus.size()) + " free, as the locks in " +
                             folder.string() + " say; start fewer of them, or give --cpus");
  std::ranges::sort(own.cpus);
  return own;
}

std::vector<int> share_of_device(const std::vector<int>& cpus,
                                 const std::vector<std::vector<int>>& local, std::size_t index,
                                 std::size_t count) {
  if (cpus.size() < local.size()) return {};
  std::vector<int> share = divide_cpus(cpus, local).at(index);
  if (share.size() < count) return {};
  share.erase(share.begin(), share.end() - static_cast<long>(count));
  return share;
}

OwnCpus keep_to_own_cpus(const CpuWish& wish) {
  const std::vector<int> cpus = by_core(allowed_cpus());
  const std::size_t count = count_for(wish, cpus.size());
  OwnCpus own;
  if (count == 0) return own;
  if (!wish.locks.empty())
    own = lock_cpus(wish.locks, near_last(cpus, wish.pci_bus), count);
  else if (!wish.pci_bus.empty())
    own.cpus = by_place(cpus, wish.pci_bus, count);
  if (own.cpus.empty() && wish.count > 0)
    own.cpus.assign(cpus.end() - static_cast<long>(count), cpus.end());
  if (own.cpus.empty()) {
    log::warn(
        "this runner has the time of {} of the {} CPUs that it may run on, and nothing tells which "
        "ones other runners of the node leave to it; give --cpu-locks",
        count, cpus.size());
    return own;
  }
  pin_to(own.cpus);
  log::info("keeps to CPUs of its own cpus={} of={}", list_of(own.cpus), cpus.size());
  return own;
}

}  // namespace nightjar::runner
