// Result files of benchmark programs: hyperfine, pytest-benchmark, Google Benchmark, JMH,
// Criterion, Catch2, asv and `perf stat -j`. Used by `compare`, `detect`
// and `bisect run`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/metric.hpp"
#include "storage/model/time.hpp"

namespace nightjar::cli {

struct BenchValue {
  std::string name;  // as the program calls it, with its parameters
  std::string unit;  // "s", "ns", "ops/s"; empty: the file does not say
  Direction direction = Direction::lower_is_better;
  std::vector<double> samples;  // in the order of measuring
  // The samples are of one process. They are alike in what a process draws once, such as the layout
  // of its memory, so they vary less than runs of several processes.
  bool of_one_process = false;
  std::string failure;  // what the program says where it has no samples
};

struct BenchFile {
  std::string_view program;  // "hyperfine"
  std::vector<BenchValue> values;
  // What was measured, if the file says it: the commit's id, and when the commit was made, else
  // when it was measured. A commit with changes that are not committed is none.
  std::string commit = {};
  std::optional<Time> date = {};
};

// nullopt: it is of none of these programs. `path` names what Criterion's files do not. A benchmark
// of which the file has only aggregates has one sample, the median where it is there.
std::optional<BenchFile> read_bench_file(const std::filesystem::path& path, std::string_view text);

// The names of these formats, as an option takes them, and the one that a file has.
std::vector<std::string> bench_formats();
std::string_view format_of(const BenchFile& file);

}  // namespace nightjar::cli
