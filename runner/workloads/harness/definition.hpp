// What a workload's name means: its parts and its sizes, from the table that both twins read.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace nightjar::workloads {

struct Definition {
  std::string model, task, device, precision;
  std::int64_t batch = 1;
  bool own_batch = true;  // the table's; another one must mean other work
  std::map<std::string, std::int64_t> sizes;
};

struct UnknownWorkload : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The names of the native workloads, in the table's order.
std::vector<std::string> native_names();

// One that the table lists, or a listed one on another device, in another precision or at another
// batch size. `tiny`: at the table's small sizes. Throws UnknownWorkload, also if the table has
// another version.
Definition find_definition(const std::string& name, std::int64_t version, bool tiny = false);

}  // namespace nightjar::workloads
