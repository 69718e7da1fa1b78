// Suites of workloads: suites/NAME.toml of the workloads folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nightjar::runner {

struct Suite {
  std::string name, description;
  std::vector<std::string> workloads;  // globs
  std::optional<int> runs;             // where nobody asked otherwise
  std::optional<double> seconds;
};

// nullopt if there is no such file. Throws std::runtime_error that names the file and what is wrong with it.
std::optional<Suite> find_suite(const std::filesystem::path& workloads, const std::string& name);
std::vector<std::string> suite_names(const std::filesystem::path& workloads);  // sorted

}  // namespace nightjar::runner
