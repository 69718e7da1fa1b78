// What a control, which no build of PyTorch changes, says of the machine during a session.
#pragma once

#include <optional>

#include "storage/model/enum.hpp"
#include "storage/model/id.hpp"

namespace nightjar {

// Which control: the workload of control.hpp in runner/run, and its kernels on a GPU.
NIGHTJAR_ENUM(Gauge, cpu, gpu_compute, gpu_bandwidth);

struct ControlReading {
  Gauge gauge = Gauge::cpu;
  double within = 0;  // sd of the logs of its runs in the session
  // Both are known together, after enough nights.
  std::optional<double> moved{};   // log of its location over that of the nights before
  std::optional<double> unrest{};  // sd of logs, beyond nine in ten earlier sessions
};

// One session's control in an earlier night.
struct EarlierControl {
  NightId night;
  Gauge gauge = Gauge::cpu;
  double location = 0;  // s
  double within = 0;
};

}  // namespace nightjar
