#include "runner/suite.hpp"

#include <algorithm>
#include <stdexcept>
#include <toml++/toml.h>

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

fs::path folder_of(const fs::path& workloads) { return workloads / "suites"; }

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw std::runtime_error(file.string() + ": " + what);
}

void read_key(Suite& suite, const fs::path& file, std::string_view key, const toml::node& value) {
  if (key == "description" && value.is_string()) {
    suite.description = value.ref<std::string>();
  } else if (key == "runs" && value.value<int>().value_or(0) > 0) {
    suite.runs = value.value<int>();
  } else if (key == "seconds" && value.value<double>().value_or(0) > 0) {
    suite.seconds = value.value<double>();
  } else if (key == "workloads" && value.is_array() && value.as_array()->is_homogeneous<std::string>()) {
    for (const auto& glob : *value.as_array()) suite.workloads.push_back(glob.ref<std::string>());
  } else {
    refuse(file, "'" + std::string(key) + "' is unknown or has a wrong value; a suite has description, " +
                     "workloads (a list of globs), runs and seconds");
  }
}

}  // namespace

std::optional<Suite> find_suite(const fs::path& workloads, const std::string& name) {
  const fs::path file = folder_of(workloads) / (name + ".toml");
  std::error_code error;
  if (name.find('/') != std::string::npos || !fs::exists(file, error)) return std::nullopt;
  Suite suite;
  suite.name = name;
  try {
    for (const auto& [key, value] : toml::parse_file(file.string()))
      read_key(suite, file, key.str(), value);
  } catch (const toml::parse_error& broken) {
    refuse(file, "line " + std::to_string(broken.source().begin.line) + ": " +
                     std::string(broken.description()));
  }
  if (suite.workloads.empty()) refuse(file, "it has no workloads");
  return suite;
}

std::vector<std::string> suite_names(const fs::path& workloads) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder_of(workloads), error), end; !error && it != end;
       it.increment(error))
    if (it->path().extension() == ".toml") names.push_back(it->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace nightjar::runner
