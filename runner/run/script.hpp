// The script of a scripted runner says which results it makes up. See scripted_help() for the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/job.hpp"

namespace nightjar::runner {

struct ScriptedLevel {
  double value = 0;
  double noise = 0;  // relative standard deviation from run to run
};

// What a rule applies to; an empty pattern applies to all.
struct RunCondition {
  std::string workload;                      // glob
  std::string commit;                        // begin of EnvironmentSpec::git_version
  std::string version;                       // glob
  std::string wheel;                         // glob on the wheel's file name
  std::string wheel_sha256, overlay_sha256;  // begin; overlay "none": without overlay
  std::optional<std::int64_t> build_from, build_to;
  std::string file, contains;  // a file below site-packages that holds a text; needs "unpack"
};

struct Rule {
  RunCondition when;
  std::map<std::string, ScriptedLevel> metrics;  // sets
  std::map<std::string, double> factors;         // multiplies what earlier rules set
  std::optional<RunStatus> status;
  std::string reason;
  std::optional<double> checksum;  // of the output; without any rule 1
};

struct Script {
  std::uint64_t seed = 0;
  bool download = false, unpack = false;
  double prepare_seconds = 0, run_seconds = 0;
  int iterations = 10;
  ScriptedLevel control{0.01, 0.01};
  std::map<std::string, std::string> facts;  // in place of those that the machine has
  MachineState machine;                      // a quiet one, but for steal_share
  std::vector<std::string> workloads;        // "<name>@<version>"
  std::vector<Rule> rules;                   // all that match, in order
};

// Throws std::runtime_error that names file and field; an unknown field is an error.
Script read_script(const std::filesystem::path& path);

std::string_view scripted_help();

}  // namespace nightjar::runner
