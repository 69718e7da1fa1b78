// Machine classes and the runner agents that measure on them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// What a series never mixes. Architecture, model and number of CPUs, memory and GPUs make the class
// (see class_text). `facts` holds all that the runner that registered last gave, by name
// ("cpu_model", "kernel", "driver", "thp", "governor", ...): an update changes the others.
struct MachineClass {
  MachineId id;
  Sha256 fingerprint;  // SHA-256 of class_text(facts)
  std::map<std::string, std::string> facts;
};

// "name=value\n" over the facts that make the class, sorted: arch, cpu_count, cpu_model, gpu and
// memory_bytes. If none of these is there, over all facts.
std::string class_text(const std::map<std::string, std::string>& facts);

// The facts of a machine class at some time.
struct MachineFacts {
  FactsId id;
  MachineId machine;
  std::map<std::string, std::string> facts;
  Time first_seen{};
};

// "kernel 6.1 → 6.8"; empty: nothing changed. What one side did not read is no change.
std::string facts_changed(const std::map<std::string, std::string>& before,
                          const std::map<std::string, std::string>& after);

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
  FactsId facts = {};         // of its machine, when it registered
  bool has_left = false;      // it said that it ends, and was not heard of since
};

}  // namespace nightjar
