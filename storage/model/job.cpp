#include "storage/model/job.hpp"

#include <algorithm>

namespace nightjar {

std::string EnvironmentSpec::key() const {
  return wheel_sha256.str() + (overlay ? "-" + overlay->sha256.str() : "") +
         (lock ? "-" + lock->sha256.str() : "");
}

bool JobSpec::uses_gpu() const {
  return std::any_of(workloads.begin(), workloads.end(),
                     [](const Workload& workload) { return workload.name.device() == "cuda"; });
}

}  // namespace nightjar
