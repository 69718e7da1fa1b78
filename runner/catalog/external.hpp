// Workloads of a person's own: any command that speaks the protocol, described in a TOML file that
// --commands names. docs/workloads.md has a worked example.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/catalog/catalog.hpp"

namespace nightjar::runner {

struct ExternalWorkload {
  CatalogEntry entry;
  std::vector<std::string> command;  // "{python}" and "{site_packages}" in it stand for the build's
  std::filesystem::path folder;      // where it runs
  std::optional<double> timeout_seconds;
  bool torch = true;  // it loads the build's PyTorch, and its "ready" proves it
};
using Externals = std::vector<ExternalWorkload>;

// An empty path gives none. Throws WrongUse that names the file, the entry and what is wrong.
Externals read_externals(const std::filesystem::path& file);

const ExternalWorkload* find_external(const Externals& externals, const WorkloadName& name);

// Returns the command to start. It is empty if the program is missing; `reason` then says so.
std::vector<std::string> command_line(const ExternalWorkload& external,
                                      const std::filesystem::path& python,
                                      const std::filesystem::path& site_packages,
                                      std::string& reason);

}  // namespace nightjar::runner
