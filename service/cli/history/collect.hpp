// All nights in a folder of results, whatever the format of each file. Used by `nightjar import`.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "service/cli/history/reading.hpp"

namespace nightjar::cli {

struct Collection {
  std::vector<FoundNight> nights;  // by machine class and time; what several files say is one night
  int files = 0;                   // that were read
  std::vector<std::pair<std::string, std::string>> not_read;  // place and reason
  std::vector<std::string> left_out;                          // of files that were read
  std::map<std::string, int> unmeasured;        // values, by what stands in their place
  std::map<std::string, Direction> directions;  // of all metrics
  std::map<std::string, int> not_taken;         // columns that nobody reads: rows
  int skipped = 0;  // files that are named like no results, or belong to others and hold none
};

// `format`: a name of formats(), or "auto". `machine_class`: of all nights, unless it is empty.
// `directions`: what the user said of metrics. `progress` gets the files done and all. Throws
// BadInput if `path` does not exist.
Collection collect(const std::filesystem::path& path, const std::string& format,
                   const std::string& machine_class, const ChosenDirections& directions,
                   const std::function<void(std::size_t, std::size_t)>& progress);

// What there is of one suite on one machine class.
struct Extent {
  std::string machine_class, suite;
  std::size_t series = 0, nights = 0, values = 0;
  Time first{}, last{};
};
std::vector<Extent> extents_of(const std::vector<FoundNight>& nights);

// Bodies for the service, oldest night first: at most `most` values each. A night of more than that
// is in several of them.
std::vector<History> batches_of(const std::vector<FoundNight>& nights, std::size_t most);

}  // namespace nightjar::cli
