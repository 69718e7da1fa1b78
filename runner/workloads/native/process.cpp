#include "process.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

namespace nightjar::workloads {
namespace {

// The second number of a one-line file, 0 if it cannot be read.
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

void steady_allocator() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

}  // namespace nightjar::workloads
