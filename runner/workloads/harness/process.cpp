#include "harness/process.hpp"

#include <array>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <malloc.h>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace nightjar::workloads {
namespace {
constexpr int mmap_from = 32 << 20, trim_above = 1 << 30;  // bytes; see steady_allocator
constexpr const char* own_threshold =
    "MALLOC_MMAP_THRESHOLD_";  // glibc's variable; see steady_allocator

// The second number of a one-line file; 0 if it cannot be read.
std::int64_t second_field(int file) {
  std::array<char, 97> text{};
  if (file < 0 || pread(file, text.data(), text.size() - 1, 0) <= 0) return 0;
  char* rest = nullptr;
  std::strtoll(text.data(), &rest, 10);
  return std::strtoll(rest, nullptr, 10);
}

}  // namespace

Counters::Counters()
    : memory_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      schedule_(open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC)) {}

Counters::~Counters() {
  if (memory_ >= 0) close(memory_);
  if (schedule_ >= 0) close(schedule_);
}

std::int64_t Counters::cpu_ns() const {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::int64_t Counters::wait_ns() const {
  return second_field(schedule_);
}

std::int64_t Counters::resident_bytes() const {
  return second_field(memory_) * sysconf(_SC_PAGESIZE);
}

std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

std::map<std::string, std::string> settings(int threads) {
  const auto given = [](const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value ? value : otherwise;
  };
  cpu_set_t allowed;
  std::string cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed)) cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
  std::map<std::string, std::string> record{
      {"threads", std::to_string(threads)},
      {"interop_threads", "1"},
      {"denormals", "flushed"},
      {"cpus", cpus},
      {"omp_wait_policy", given("OMP_WAIT_POLICY", "default")},
      {"allocator", "glibc, mmap from " + std::to_string(mmap_from >> 20) + " MiB, trim above " +
                        std::to_string(trim_above >> 20) + " MiB"},
      {"cuda_allocator", given("PYTORCH_ALLOC_CONF", given("PYTORCH_CUDA_ALLOC_CONF", "default"))}};
  if (const char* own = std::getenv(own_threshold))
    record["allocator"] = std::string("glibc, ") + own_threshold + "=" + own;
  if (const char* library = std::getenv("LD_PRELOAD")) record["preloaded"] = library;
  return record;
}

void steady_allocator() {
  if (std::getenv(own_threshold)) return;
  mallopt(M_MMAP_THRESHOLD, mmap_from);
  mallopt(M_TRIM_THRESHOLD, trim_above);
}

}  // namespace nightjar::workloads
