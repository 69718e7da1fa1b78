// The runs of one workload version and metric on one machine class and build variant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/id.hpp"
#include "storage/model/workload.hpp"

namespace nightjar {

struct Series {
  SeriesId id;
  WorkloadId workload;
  WorkloadName workload_name;
  int workload_version = 1;
  std::string metric;  // a name of all_metrics()
  MachineId machine;
  std::string variant;
};

// One run's robust location in a series. `wait_share` is the share of measuring time spent waiting
// for a CPU.
struct SeriesRun {
  RunId run;
  BuildId build;
  NightId night;
  JobId job;
  int order = 0;
  double value = 0;
  double wait_share = 0;
};

// What is taken for normal from `build` on: the location accepted for that build's night.
struct Level {
  SeriesId series;
  BuildId build;
  NightId night;
  double value = 0;
  int runs = 0;
};

}  // namespace nightjar
