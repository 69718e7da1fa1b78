// Conditions of lists whose rows have a workload. Private to this folder.
#pragma once

#include <optional>
#include <string>

#include "storage/database.hpp"
#include "storage/model/domain.hpp"

namespace nightjar::storage {

// Their ids, as a list in JSON; nullopt: the filter names nothing, so all do.
std::optional<std::string> workloads_that_match(const Database& db, const WorkloadFilter& filter);

}  // namespace nightjar::storage
