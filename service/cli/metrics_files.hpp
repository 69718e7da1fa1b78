// Values by metric from files that are compared as runs. Used by `compare`.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "service/cli/metric_direction.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::cli {

// What the files of one side say of values, and of what failed.
struct MetricsSide {
  std::map<std::string, std::vector<double>> values;  // by metric
  std::map<std::string, std::string>
      workloads;  // of a metric: its workload; a metric of TorchBench has none
  std::map<std::string, std::string>
      reasons;  // why a workload, or a metric without one, failed: one line
  std::map<std::string, std::map<std::string, std::set<std::string>>>
      setups;                              // of a workload: machine and settings
  std::map<std::string, int> not_numbers;  // of a metric: how many values are no finite number
  std::vector<std::string> refused;        // rows that could not be read, a line each
  std::map<std::string, std::string>
      units;  // of a metric of TorchBench: its unit, or the name of its benchmark
  // Says of a benchmark which units it has that do not go together, and in which file. Values that
  // are not in the first one are left out.
  std::map<std::string, std::string> other_units;
  // Known where the files of a benchmark program say it.
  std::map<std::string, Direction> directions;
  std::set<std::string> of_one_process;  // metrics whose runs are stretches of one process
};
// Values of TorchBench's metrics files go by their names, a value a file; of dynamo's performance
// CSV by "<workload> <column>"; of the JSON of `nightjar-runner measure` by "<workload> <metric>",
// a value a run; of benchmark programs (bench_files.hpp) by the names that they give. Of samples of
// one process, a file's median is a run where a side has five files or more; else the medians of up
// to 30 stretches of it are, which are alike in what the process drew once. 0 is a value, but not
// in a row of dynamo's whose speed-up is 0: that model failed. What was not measured (a text in
// place of a number, null, NaN) is left out and told. A benchmark that is in "us" in one file and
// in "ms" in another is converted, or left out and told where its units do not go together.
// `units`: those of the other side. Throws BadInput that names the file.
MetricsSide read_side(const std::vector<std::filesystem::path>& files,
                      const std::map<std::string, std::string>& units = {});

// What a comparison has on one side only: a workload, or a metric that its workload lacks on the
// other side.
struct OneSided {
  std::string name, reason;  // no reason if none is known
  bool failed = true;        // the other side lacks the whole workload, or says that it failed
  bool has_rows = false;     // some runs of it are there all the same
};
std::vector<OneSided> only_in(const MetricsSide& side, const MetricsSide& other);

// What both sides speak of and that has no verdict, or one by a part of its values, and why.
struct NotJudged {
  std::string name, reason;
};
std::vector<NotJudged> not_judged(const MetricsSide& control, const MetricsSide& treatment);
// What differs in how a workload was measured on both sides, such as "threads (1 and 4)", by
// workload.
std::map<std::string, std::string> other_setups(const MetricsSide& control,
                                                const MetricsSide& treatment);
// Which way a metric of that side is better: as the user chose, else by what it is or is called.
Direction direction_in(const MetricsSide& side, const std::string& metric,
                       const ChosenDirections& chosen = {});
// The metric of ours that `name` ends with, or whose kind it is (TorchBench's and dynamo's memory:
// peak memory); else nullptr.
const Metric* metric_of(const std::string& name);
// What `name` counts in, by whose name it is: ours, dynamo's column, or TorchBench's; empty if it
// is not known.
std::string unit_of(const std::string& name);
// The same, or what the file of that side says.
std::string unit_in(const MetricsSide& side, const std::string& name);

}  // namespace nightjar::cli
