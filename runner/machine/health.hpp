// What `nightjar-runner doctor` judges, beside the facts of the machine class and the machine's
// state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/job.hpp"

namespace nightjar::runner {

struct Health {
  std::map<std::string, std::string> facts;  // machine_facts()
  MachineState state;
  std::string no_gpu;        // why there is none; empty if there is one
  std::string clock_source;  // "tsc"; empty: unknown
  bool numa_balancing = false;
  std::string address_layout;  // randomize_va_space: "0" fixed, "2" another in each process
  std::optional<double>
      cpu_quota;  // CPUs' worth that this control group may use; nullopt: no limit
  std::int64_t times_throttled = 0;  // by that quota, since the group was made
  bool may_pin = true;
  std::int64_t free_memory_bytes = 0, swap_used_bytes = 0,
               free_disk_bytes = 0;  // disk: of the cache
  std::filesystem::path cache;
  std::vector<std::string> compilers;  // that run now, others' included: "cc1plus"
  std::string lock_holder;             // "4242 (measures job 3)" has the machine now; empty: nobody
  std::vector<std::string> missing_tools;  // of those that compile native workloads: "cmake"
  bool ccache = false;
  std::filesystem::path python;  // that runs get
  std::string python_headers;    // folder of Python.h; empty: not there
  // Why builds cannot be confined here, and what to do; empty: they can be. Filled by callers from
  // run/confined_place.hpp.
  std::string unconfined, to_confine;
};

// Takes about a second, in which stolen CPU time is counted. `cache` need not exist.
Health observe_machine(const std::filesystem::path& cache, const std::filesystem::path& python);

}  // namespace nightjar::runner
