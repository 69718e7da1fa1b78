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
  std::vector<std::string> command;  // with placeholders, see CommandPlace
  std::filesystem::path folder;      // where it runs
  std::optional<double> timeout_seconds;
  bool torch = true;  // it loads the build's PyTorch, and its "ready" proves it
};
using Externals = std::vector<ExternalWorkload>;

// An empty path gives none. Throws WrongUse that names the file, the entry and what is wrong.
Externals read_externals(const std::filesystem::path& file);

const ExternalWorkload* find_external(const Externals& externals, const WorkloadName& name);

// What the placeholders of a command stand for.
struct CommandPlace {
  std::filesystem::path python;         // "{python}"
  std::filesystem::path site_packages;  // "{site_packages}", of the build
  std::filesystem::path workloads;      // "{workloads}", the folder that has run_file.py
};

// Returns the command to start. It is empty if the program is missing; `reason` then says so.
std::vector<std::string> command_line(const ExternalWorkload& external, const CommandPlace& place,
                                      std::string& reason);

}  // namespace nightjar::runner
