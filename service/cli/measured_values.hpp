// The numbers that one run of a measure gave, by the names of its benchmarks. Used by `bisect run`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/model/metric.hpp"

namespace nightjar::cli {

// Where the numbers are.
struct MeasureSource {
  std::filesystem::path file;  // or a folder of files; empty: standard output
  std::string value;           // a path into the JSON, see value_path.hpp; empty: none
  std::string format;          // a name of bench_formats(); empty: recognised by the content
  // Whether the last line of standard output is the number, or a JSON object of them by name.
  bool is_last_line() const { return file.empty() && value.empty() && format.empty(); }
};

// What one benchmark came to. A run of the measure is one run of the search, however many samples
// it took: they share a process or at least a minute of the machine. So the value is their median.
struct MeasuredValue {
  std::string name;  // empty: the measure names none
  std::string unit;  // empty: not known
  Direction direction = Direction::unknown;
  double value = 0;     // positive and finite, if there is no problem
  std::string problem;  // why there is none, as the end of a sentence
};

struct Measured {
  std::vector<MeasuredValue> values;
  std::string problem;  // why there is none at all: "wrote no file out.json"
};
// Pure but for reading files in `tree`, the work tree. `output` is standard output. Never throws
// for what the measure wrote.
Measured measured_values(const MeasureSource& source, const std::filesystem::path& tree,
                         const std::string& output);

}  // namespace nightjar::cli
