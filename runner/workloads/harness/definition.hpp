// Looks up a workload's name: its parts, and its sizes from the table that both twins read.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace nightjar::workloads {

// workloads.json of the sources that this program was compiled from. CMakeLists.txt writes it.
extern const char* const table_path;

struct Definition {
  std::string model, task, device, precision;
  std::int64_t batch = 1;
  bool own_batch = true;  // the table lists this batch size; another one must mean other work
  std::map<std::string, std::int64_t> sizes;
};

struct UnknownWorkload : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The names of the native workloads, in the table's order.
std::vector<std::string> native_names();

// A workload that the table lists, or a variant of one on another device, in another precision or
// at another batch size. `tiny` takes the table's small sizes. Throws UnknownWorkload if there is
// none, or if the table has another version.
Definition find_definition(const std::string& name, std::int64_t version, bool tiny = false);

}  // namespace nightjar::workloads
