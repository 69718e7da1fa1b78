// Which workloads there are, known without starting PyTorch: workloads.json of the workloads
// folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/workload.hpp"

namespace nightjar::runner {

// external: a command of a person's own, see external.hpp.
NIGHTJAR_ENUM(WorkloadKind, python, native, external);

struct CatalogEntry {
  WorkloadName name;
  int version = 1;
  WorkloadKind kind = WorkloadKind::python;
};

// Checks all of the file, so that no workload's program fails on it later. Throws WrongUse: one
// line that names file, workload and key, and says what is wanted there.
std::vector<CatalogEntry> read_catalog(const std::filesystem::path& workloads);

// Returns the folder asked for, else the installed one beside this program, else the source tree's.
std::filesystem::path default_workloads(const std::filesystem::path& asked);

// Native workloads are those of suite "native".
bool is_native(const WorkloadName& name);

// True for suites that the programs of the workloads folder run. Externals have other names.
bool is_ours(std::string_view suite);

// Returns the entries that any of `globs` selects, in the catalog's order.
std::vector<CatalogEntry> select(const std::vector<CatalogEntry>& catalog,
                                 const std::vector<std::string>& globs);

}  // namespace nightjar::runner
