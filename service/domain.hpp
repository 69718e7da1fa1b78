// Domains as TorchBench has them. Used by lists, suites and reports.
#pragma once

#include <string>

#include "storage/model/workload.hpp"

namespace nightjar::service {

// vision, language, speech, recommendation, reinforcement learning, or other: by the model's name,
// since nothing else tells of models that come from libraries.
std::string domain_of(const WorkloadName& name);

}  // namespace nightjar::service
