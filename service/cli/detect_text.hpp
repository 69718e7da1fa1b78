// What `detect` found in a series, and what it could not have found: as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "bisect/change_points.hpp"
#include "service/cli/series_file.hpp"

namespace nightjar::cli {

// A stretch between two changes in which no further change can be told.
struct Stretch {
  long long first = 0, last = 0;
};

// What was found, and what could not have been.
struct Detected {
  bisect::Levels levels;
  int unseen_first = 0, unseen_newest = 0;  // positions in which no change can be seen
  int needed_first = 0, needed_newest = 0;  // positions that would be enough; 0: none are
  std::vector<Stretch> unseen_between;
};

Detected detected(const Series& series, const bisect::DetectionPolicy& policy);

// Prints a table of the changes, or why there is none, and where none could have been seen.
void print_detected(const Series& series, const Detected& found, double threshold);
// Names rows without a value on standard error, since the answer does not depend on them.
void print_unmeasured(const Series& series);
nlohmann::json detected_json(const Series& series, const Detected& found);

}  // namespace nightjar::cli
