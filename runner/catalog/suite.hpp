// Suites of workloads: suites/NAME.toml of the workloads folder, and what they select.
// docs/workloads.md says what such a file holds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/catalog/catalog.hpp"

namespace nightjar::runner {

// Listed workloads that a glob matches, or if it matches them on CUDA only, those on CUDA. Each
// list that is not empty stands in for that part of their names.
struct SuiteEntry {
  std::string glob;
  int priority = 0;  // higher ones are measured first
  std::vector<std::string> devices{}, precisions{}, batches{}, backends{};
  std::vector<std::string> sizes{};  // of models that have several, see workload_variant.hpp
  std::vector<int> threads{};
};

struct Suite {
  std::string name, description;
  std::vector<SuiteEntry> workloads;
  std::optional<int> runs;  // where nobody asked otherwise, as are the next two
  std::optional<double> seconds;
  std::optional<double> minutes;  // after which no run begins
};

// nullopt if there is no such file. Throws WrongUse that names the file and what is wrong with it.
std::optional<Suite> find_suite(const std::filesystem::path& workloads, const std::string& name);
std::vector<std::string> suite_names(const std::filesystem::path& workloads);  // sorted

struct PrioritizedName {
  WorkloadName name;
  int priority = 0;
  bool operator==(const PrioritizedName&) const = default;
};

// Returns the names that the entries select, each once: highest priority first, then in the order
// of the entries and of the list. The names need not be listed themselves.
std::vector<PrioritizedName> expand(const std::vector<SuiteEntry>& entries,
                                    const std::vector<CatalogEntry>& listed);

}  // namespace nightjar::runner
