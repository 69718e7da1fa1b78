#include "service/cli/model_results.hpp"

#include <cerrno>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <system_error>
#include <vector>

#include "runner/format/dynamo.hpp"
#include "runner/format/pytorch_words.hpp"
#include "service/cli/csv_file.hpp"
#include "service/cli/failure.hpp"
#include "storage/base/pattern.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLargestFile = 1u << 30;

// Models by group and name, and the groups of which speed-ups were read.
struct Collected {
  std::map<std::pair<Group, std::string>, ModelResult> models;
  std::set<Group> with_performance;

  ModelResult& at(const Group& group, const std::string& model) {
    ModelResult& result = models[{group, model}];
    result.group = group;
    result.model = model;
    return result;
  }
};

std::pair<Group, std::string> place_of(const WorkloadName& name) {
  const auto text = [](std::string_view part) { return std::string(part); };
  return {{text(name.suite()), text(name.task()), text(name.device()), text(name.precision()),
           text(name.backend())},
          text(name.model()) + " " + text(name.batch())};
}

void add_csv(Collected& all, const CsvFile& file) {
  const bool performance = file.has("speedup");
  if (!performance && !file.has("accuracy"))
    throw BadInput("cannot read " + file.path.string() +
                   ": it has neither a column 'speedup' nor 'accuracy'");
  Group named = group_of_file(file.path);
  for (const auto& row : file.rows) {
    auto place = std::pair(named, file.text(row, "name"));
    if (place.first.device.empty()) place.first.device = file.text(row, "dev");
    if (const auto workload = WorkloadName::parse(file.text(row, "workload")))
      place = place_of(*workload);
    ModelResult& model = all.at(place.first, place.second);
    if (file.has("accuracy")) model.accuracy = file.text(row, "accuracy");
    if (!performance) continue;
    all.with_performance.insert(place.first);
    model.speedup = file.number(row, "speedup");
    model.latency_ms = file.number(row, "abs_latency");
    model.compile_seconds = file.number(row, "compilation_latency");
    model.compression_ratio = file.number(row, "compression_ratio");
  }
}

void add_measurement(Collected& all, const fs::path& path, const std::string& text) {
  try {
    for (const auto& row : runner::dynamo_rows(runner::read_suite_result(text))) {
      const auto place = place_of(row.workload);
      const auto zero = row.measured ? std::nullopt : std::optional(0.0);
      all.at(place.first, place.second) = {place.first,
                                           place.second,
                                           std::string(name_of(row.accuracy)),
                                           zero ? zero : row.speedup,
                                           row.latency_ms,
                                           row.compile_seconds,
                                           row.compression_ratio};
      all.with_performance.insert(place.first);
    }
  } catch (const std::invalid_argument& error) {
    throw BadInput("cannot read " + path.string() + ": " + error.what());
  }
}

void add_file(Collected& all, const fs::path& path) {
  const std::string text = read_text(path);
  const auto begin = text.find_first_not_of(" \r\n\t");
  if (begin != std::string::npos && text[begin] == '{')
    add_measurement(all, path, text);
  else
    add_csv(all, parse_csv(path, text));
}

// X_accuracy.csv of X_performance.csv, if it is there.
fs::path accuracy_beside(const fs::path& path) {
  const std::string ending = "_performance.csv";
  const std::string text = path.string();
  if (!text.ends_with(ending)) return {};
  const fs::path other = text.substr(0, text.size() - ending.size()) + "_accuracy.csv";
  return fs::exists(other) ? other : fs::path();
}

// To the end, which /dev/zero has not.
std::string whole_text(std::istream& in, const fs::path& file) {
  std::string text;
  std::vector<char> part(1 << 20);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kLargestFile)
      throw BadInput("cannot read " + file.string() + ": it has more than 1 GiB");
  }
  return text;
}

}  // namespace

std::string read_text(const fs::path& file) {
  if (file == "-") return whole_text(std::cin, file);
  const auto refuse = [&](const std::string& why) {
    throw BadInput("cannot read " + file.string() + ": " + why);
  };
  std::error_code error;
  if (fs::is_directory(file, error)) refuse("it is a folder");
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse(std::generic_category().message(errno));
  std::string text = whole_text(in, file);
  if (text.empty()) refuse("it is empty");
  return text;
}

Group group_of_file(const fs::path& file) {
  static const Pattern pattern(
      "(.+?)_(timm_models|[A-Za-z0-9]+)_(float32|float16|bfloat16|amp|amp_fp16|amp_bf16|quant|"
      "notset)_"
      "(training|inference)_([A-Za-z0-9]+)(_.+)?_(performance|accuracy)");
  const std::string stem = file.stem().string();
  static const Pattern expected(
      "(.+?)_(torchbench|huggingface|timm(?:_models)?)(_.+)?_"
      "(training|inference)");
  if (const auto found = expected.match(stem))
    return {found->at(2), runner::word_of_ours(found->at(4)), "", "", found->at(1) + found->at(3)};
  const auto found = pattern.match(stem);
  if (!found) return {stem, "", "", "", ""};
  return {found->at(2), runner::word_of_ours(found->at(4)), found->at(5),
          runner::word_of_ours(found->at(3)), found->at(1)};
}

std::vector<ModelResult> read_models(const std::vector<fs::path>& files) {
  Collected all;
  std::set<fs::path> paths(files.begin(), files.end());
  for (const fs::path& file : files)
    if (const auto other = accuracy_beside(file); !other.empty()) paths.insert(other);
  for (const fs::path& path : paths) add_file(all, path);
  std::vector<ModelResult> models;
  for (auto& [place, model] : all.models) {
    // As on the dashboard: accurate, but without a row in the performance file, it failed there.
    if (!model.speedup && !model.latency_ms && all.with_performance.contains(place.first))
      model.speedup = 0;
    models.push_back(std::move(model));
  }
  if (models.empty())
    throw BadInput("cannot sum up: there is no model in " + files.front().string());
  return models;
}

}  // namespace nightjar::cli
