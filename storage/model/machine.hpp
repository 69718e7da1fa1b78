// Machine classes and the runner agents that measure on them.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// What a series never mixes. Architecture, model and number of CPUs, their quota if there is one,
// memory and GPUs make the class (see class_text). `facts` holds all that the runner that
// registered last gave, by name
// ("cpu_model", "kernel", "driver", "thp", "governor", ...): an update changes the others.
struct MachineClass {
  MachineId id;
  Sha256 fingerprint;  // SHA-256 of class_text(facts)
  std::map<std::string, std::string> facts;
};

// "name=value\n" over the facts that make the class, sorted: arch, cpu_count, cpu_model,
// cpu_quota, gpu and memory_bytes. If none of these is there, over all facts.
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

// What a runner can run, as <name>@<version>: sorted, each once. A copy shares it with the
// original.
class WorkloadSet {
 public:
  WorkloadSet() = default;
  WorkloadSet(std::vector<std::string> texts);
  WorkloadSet(std::initializer_list<std::string> texts) : WorkloadSet(std::vector(texts)) {}
  void add(std::string text);
  bool contains(std::string_view text) const;
  const std::vector<std::string>& texts() const { return *texts_; }
  auto begin() const { return texts_->begin(); }
  auto end() const { return texts_->end(); }
  std::size_t size() const { return texts_->size(); }
  // True at once for copies.
  bool operator==(const WorkloadSet& other) const;

 private:
  std::shared_ptr<const std::vector<std::string>> texts_ =
      std::make_shared<std::vector<std::string>>();
};

struct Runner {
  RunnerId id;
  std::string name;  // unique
  MachineId machine;
  std::map<std::string, std::string> labels;  // --label k=v
  WorkloadSet workloads;
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
