// The doctor's rules by subject. Each says what was found, whether it harms, and what mends it.
// Used by doctor.cpp only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runner/machine/doctor.hpp"

namespace nightjar::runner {

class Findings {
 public:
  // Fine unless `bad`, which is of class `kind`.
  void judge(bool bad, std::string what, std::string remedy,
             FindingClass kind = FindingClass::harmful) {
    list_.push_back({bad ? kind : FindingClass::fine, std::move(what),
                     bad ? std::move(remedy) : std::string()});
  }
  std::vector<Finding> take() { return std::move(list_); }

 private:
  std::vector<Finding> list_;
};

void examine_cpu(const Health& health, Findings& out);
void examine_others(const Health& health, Findings& out);
void examine_memory(const Health& health, Findings& out);
void examine_tools(const Health& health, Findings& out);
void examine_gpu(const GpuState& gpu, Findings& out);

// "83.4 °C" for (83.4, 1, " °C").
std::string decimals(double value, int digits, const char* unit);
// "cc1plus ×2, ld"; "none".
std::string listed(const std::vector<std::string>& names);

}  // namespace nightjar::runner
