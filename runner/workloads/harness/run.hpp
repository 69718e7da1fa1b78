// Makes a workload ready and measures it. Used by both programs of the native suite.
#pragma once

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/definition.hpp"
#include "harness/measurement.hpp"
#include "harness/protocol.hpp"

namespace nightjar::workloads {

struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The LibTorch of this process, its compiler, and the memory after loading it.
Ready identity();

class DeviceClock;

struct Prepared {
  Steps steps;
  std::int64_t parameters = 0;
  std::shared_ptr<DeviceClock> clock;  // nullptr if no device is timed
};

// The model with its inputs, ready to iterate. `timed`: a CUDA device is timed by its events as
// well. Throws Unavailable if the device, precision or model is not there, and what torch throws.
Prepared prepare(const Request& request, const Definition& definition, bool timed = false);

// Prepares and measures. Throws what prepare() throws, and WrongResult if the checksum is not
// finite.
Measurement run(const Request& request, const Definition& definition);

// The status and the reason for an exception.
std::pair<std::string, std::string> judge(const std::exception& error);

}  // namespace nightjar::workloads
