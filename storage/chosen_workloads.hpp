// Conditions of lists whose rows have a workload. Private to this folder.
#pragma once

#include <optional>
#include <string>

#include "storage/database.hpp"
#include "storage/model/domain.hpp"

namespace nightjar::storage {

// SQL: whether this column names one of the workloads that are bound. The plus keeps SQLite from
// taking the column's index: then it would sort all rows for each page.
#define IS_AMONG(column) "+" column " IN (SELECT value FROM json_each(?))"

// Their ids, as a list in JSON; nullopt: the filter names nothing, so all do.
std::optional<std::string> workloads_that_match(const Database& db, const WorkloadFilter& filter);

}  // namespace nightjar::storage
