// What Linux says about this process: memory, CPU time, time spent waiting for a CPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace nightjar::workloads {

// Cheap readings around an iteration: the files stay open, and each reading is one pread.
class Counters {
 public:
  Counters();
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  std::int64_t cpu_ns() const;   // CPU time of all threads of this process
  std::int64_t wait_ns() const;  // time in which the main thread was ready but had no CPU; or 0
  std::int64_t resident_bytes() const;

 private:
  int memory_, schedule_;
};

// The process's VmHWM. ru_maxrss would inherit the parent's peak through fork and exec.
std::int64_t peak_bytes();

// The settings of this process that two comparable runs share.
std::map<std::string, std::string> settings(int threads);

// Fixes glibc's thresholds for mapping and trimming memory at the values that its adaptation
// reaches anyway. Otherwise peak memory depends on the order in which the first blocks are freed.
void steady_allocator();

}  // namespace nightjar::workloads
