// What benchmark suites found, model by model, from the files in which it is exchanged: dynamo's
// performance and accuracy CSV, and the JSON of `nightjar-runner measure`. Used by `compare` and
// `summary`.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nightjar::cli {

// What is summed up in one line: "torchbench", "train", "cuda", "amp", "inductor". What is unknown
// is empty.
struct Group {
  std::string suite, task, device, precision, backend;
  std::string run = {};  // its date or folder, where files of several runs are read together
  auto operator<=>(const Group&) const = default;
};

struct ModelResult {
  Group group;
  std::string model;     // with its batch size where that is part of its name
  std::string accuracy;  // dynamo's word; empty: not known
  std::optional<double> speedup, latency_ms, compile_seconds, compression_ratio;  // 0: it failed
};

// The whole file; "-" is standard input. One that gzip compressed is unpacked, and a byte order
// mark is left out. Throws BadInput that names it.
std::string read_text(const std::filesystem::path& file);

// A file's group, by the name that dynamo's runner.py gives it:
// <compiler>_<suite>_<dtype>_<training|inference>_<device>[_<arch>]_<performance|accuracy>.csv;
// precisions and tasks in our words (fp32, train). Precision and device are empty for PyTorch's
// ci_expected_accuracy, whose names lack them. Another name is a suite of its own.
Group group_of_file(const std::filesystem::path& file);
// The architecture in such a name ("a100", "x86"), which tells the machine; empty if there is none.
std::string architecture_of_file(const std::filesystem::path& file);

// What could be read of files, and what could not.
struct ModelResults {
  std::vector<ModelResult> models;   // ordered by group and model
  std::vector<std::string> refused;  // a line each: rows and cells that say nothing, and why
};

// All models of all files. An accuracy file joins the performance file of the same group; one named
// ..._accuracy.csv beside a ..._performance.csv is read along. Files of two dates, or files that
// both tell the same of a model, are runs of their own. Of a model that stands twice in a file the
// last row counts. Throws BadInput.
ModelResults read_models(const std::vector<std::filesystem::path>& files);

}  // namespace nightjar::cli
