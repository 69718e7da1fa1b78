// Machine classes and the runner agents that measure on them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// What a series never mixes: CPU, GPU, driver, kernel, memory settings, thread and pinning policy.
// `facts` holds them by name ("cpu_model", "cpu_count", "kernel", "gpu", "driver", "thp",
// "governor", "memory_bytes", ...); the fingerprint is the SHA-256 of "name=value\n" over the
// sorted facts.
struct MachineClass {
  MachineId id;
  Sha256 fingerprint;
  std::map<std::string, std::string> facts;
};

struct Runner {
  RunnerId id;
  std::string name;  // unique
  MachineId machine;
  std::map<std::string, std::string> labels;  // --label k=v
  std::vector<std::string> workloads;         // names it can run
  std::string version;
  Time seen_at{};
  std::string token = {};     // name of the token that registered it
  std::string instance = {};  // the host that the name stands for, by a random id of its own
  int failures = 0;           // lost attempts in a row
  Time quarantined_until{};   // gets no job before
  std::string trouble = {};   // of the last lost attempt; empty after a result
};

}  // namespace nightjar
