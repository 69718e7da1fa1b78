// The part of the program that knows torch.
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

// Which LibTorch this process runs in.
Ready identity();

class DeviceClock;

struct Prepared {
  Steps steps;
  std::int64_t parameters = 0;
  std::shared_ptr<DeviceClock> clock;  // nullptr: nothing is timed on a device
};

// The model with its inputs, ready to iterate. Throws Unavailable without the device, and what
// torch throws. `timed`: on a CUDA device by its own clock, too.
Prepared prepare(const Request& request, const Definition& definition, bool timed = false);

// Prepares and measures. Throws WrongResult too, if the checksum is not finite.
Measurement run(const Request& request, const Definition& definition);

// The status and the reason that an exception means.
std::pair<std::string, std::string> judge(const std::exception& error);

}  // namespace nightjar::workloads
