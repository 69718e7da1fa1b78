// What Linux knows of this process: memory, CPU time, time spent waiting for a CPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace nightjar::workloads {

// Cheap readings around an iteration; the files stay open, one pread each.
class Counters {
 public:
  Counters();
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  std::int64_t cpu_ns() const;   // CPU time of all threads of this process
  std::int64_t wait_ns() const;  // the main thread was ready to run and had no CPU; 0 if not known
  std::int64_t resident_bytes() const;

 private:
  int memory_, schedule_;
};

// VmHWM. Not ru_maxrss: that one inherits the parent's through fork and exec.
std::int64_t peak_bytes();

// How this process is set up to run, as a record: what makes two runs comparable.
std::map<std::string, std::string> settings(int threads);

// Fixes at what size memory comes from the kernel and when it goes back, at the values to which
// glibc's adaptation climbs anyway: otherwise peak memory depends on how the first blocks lived.
void steady_allocator();

}  // namespace nightjar::workloads
