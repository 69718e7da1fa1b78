// `nightjar-runner profile`: local sessions that tell where the time and memory of workloads go.
// Never part of measuring: watching costs time.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/catalog/catalog.hpp"
#include "runner/run/local_session.hpp"
#include "storage/model/profile.hpp"

namespace nightjar::runner {

struct ProfileConfig {
  LocalPaths paths;
  int runs = 5;
  RunLimits limits;        // min_iterations are profiled in each run
  bool remeasure = false;  // measures the machine's ceilings although they are known
};

// Returns one profile for each workload. What goes wrong is its status and reason; after a request
// to stop, that it was left out. Throws std::runtime_error if torch cannot be imported, and Stopped
// before the first run.
std::vector<Profile> profile(const ProfileConfig& config,
                             const std::vector<CatalogEntry>& workloads, std::stop_token stop,
                             const std::function<void(const std::string&)>& progress);

}  // namespace nightjar::runner
