// The formats of results that `nightjar import` reads. See docs/importing.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/cli/history/reading.hpp"

namespace nightjar::cli {

// Readers throw std::exception that says what is wrong with a file as a whole.

// TorchBench's metrics-*.json, as its userbenchmarks write them: names of four forms, and others.
Reading read_torchbench(const ResultFile& file);
// What pytest-benchmark writes, as the TorchBench before its userbenchmarks did.
Reading read_pytest(const ResultFile& file);
// A CSV file of PyTorch's benchmarks/dynamo. Model, suite and the rest stand in its name; date and
// commit in the names of its folders.
Reading read_dynamo(const ResultFile& file);
// Records of PyTorch's benchmark database, schema version 3: a list of them, or one a line.
Reading read_database(const ResultFile& file);
// A result of airspeed velocity: results/MACHINE/COMMIT-ENVIRONMENT.json.
Reading read_asv(const ResultFile& file);

struct Format {
  std::string name;   // as --format takes it
  std::string files;  // what it is, for people
  Reading (*read)(const ResultFile&);
};
const std::vector<Format>& formats();
const Format* find_format(const std::string& name);
// Recognises a format by the file's content and ending. nullptr: it is of no format known here. For
// files of a format that hold no results, such as asv's benchmarks.json, is_beside() is true.
const Format* format_of(const ResultFile& file);
bool is_beside(const ResultFile& file);

}  // namespace nightjar::cli
