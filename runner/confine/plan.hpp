// What nightjar-confine is asked for, as its arguments say.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nightjar::confine {

// shown: as it is, read-only. written: as it is. scratch: an empty folder in memory that vanishes
// with the process. hidden: empty, in a place that is shown.
enum class Access { shown, written, scratch, hidden };

struct Place {
  std::filesystem::path path;
  Access access;
};

struct Plan {
  std::vector<Place> places;
  std::string scratch_bytes = "1000000000";  // of all scratch folders together
  unsigned long threads = 8192;              // of all processes together
  std::filesystem::path folder = "/";
  std::vector<std::string> variables;  // NAME=value: the whole environment
  std::vector<std::string> command;
};

// Throws std::runtime_error if there is no command, or an option that is not known.
Plan parse(int argc, char** argv);

}  // namespace nightjar::confine
