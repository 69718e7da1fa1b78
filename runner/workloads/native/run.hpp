// The part of the program that knows torch.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "case.hpp"
#include "definition.hpp"
#include "device_clock.hpp"
#include "harness.hpp"
#include "protocol.hpp"

namespace nightjar::workloads {

struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Which LibTorch this process runs in.
Ready identity();

struct Prepared {
  Step step;
  bool is_cuda = false;
  std::int64_t parameters = 0;

  // The step with the device synchronised, timed by `clock` too if there is one, which must outlive it.
  Steps steps(DeviceClock* clock = nullptr) const;
};

// The model with its inputs, ready to iterate. Throws Unavailable without the device, and what
// torch throws.
Prepared prepare(const Request& request, const Definition& definition);

// Prepares and measures. Throws WrongResult too, if the checksum is not finite.
Measurement run(const Request& request, const Definition& definition);

// The status and the reason that an exception means.
std::pair<std::string, std::string> judge(const std::exception& error);

}  // namespace nightjar::workloads
