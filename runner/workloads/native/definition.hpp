// What a workload's name means: its parts and its sizes, from the table that both twins read.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace nightjar::workloads {

struct Definition {
  std::string model, task, device;
  std::int64_t batch = 1;
  std::map<std::string, std::int64_t> sizes;
};

struct UnknownWorkload : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The names of the native workloads, in the table's order.
std::vector<std::string> native_names();

// The table lists devices as `cpu`; `cuda` in their place means the same workload there. Throws
// UnknownWorkload, also if the table has another version. `tiny`: at the table's small sizes.
Definition find_definition(const std::string& name, std::int64_t version, bool tiny = false);

}  // namespace nightjar::workloads
