// What `nightjar-runner measure` found: the runs of each workload, and the machine around them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/build/torch_identity.hpp"
#include "runner/catalog/catalog.hpp"
#include "storage/model/job.hpp"

namespace nightjar::runner {

struct MeasuredWorkload {
  CatalogEntry workload;
  std::vector<RunResult> runs = {};  // those that were measured
  RunStatus status = RunStatus::measured;
  std::string reason =
      {};  // of the first run that was not measured; its workload is not tried again
  std::string details = {};                          // of that run, see ParsedRun
  std::optional<Accuracy> accuracy = {};             // see RunResult
  std::map<std::string, std::string> settings = {};  // how its runs were set up, as they said
};

struct Measurement {
  ReadyTorch torch;
  std::map<std::string, std::string> machine;
  std::vector<MeasuredWorkload> workloads;
  MachineState before = {}, after = {};
};

}  // namespace nightjar::runner
