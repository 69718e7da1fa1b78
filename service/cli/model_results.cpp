#include "service/cli/model_results.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <vector>

#include "runner/format/dynamo.hpp"
#include "service/cli/csv_file.hpp"
#include "service/cli/dynamo_name.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/gzip.hpp"
#include "service/cli/history/reading.hpp"
#include "storage/model/pytorch_words.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t largest_file = 1u << 30;

// Models by group and name, and the groups of which speed-ups were read.
struct Collected {
  std::map<std::pair<Group, std::string>, ModelResult> models;
  std::set<Group> with_performance;
  std::vector<std::string> refused;  // lines without the file's name

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

// "2 cells hold no number: 2 'infra_error'"; empty if there are none.
std::string words_line(const std::map<std::string, int>& words) {
  std::string text;
  int sum = 0;
  for (const auto& [word, count] : words) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " '" + word + "'";
    sum += count;
  }
  if (text.empty()) return "";
  return std::to_string(sum) + (sum == 1 ? " cell holds" : " cells hold") + " no number: " + text;
}

void add_csv(Collected& all, const CsvFile& file) {
  const bool performance = file.has("speedup");
  if (!performance && !file.has("accuracy"))
    throw BadInput("cannot read " + file.path.string() +
                   ": it has neither a column 'speedup' nor 'accuracy'");
  Group named = group_of_file(file.path);
  std::map<std::string, int> words;
  const auto number = [&](const std::vector<std::string>& row, const char* column) {
    const auto cell = file.cell(row, column);
    if (cell && !cell->number && cell->word != "empty") ++words[cell->word];
    return cell ? cell->number : std::nullopt;
  };
  for (const auto& row : file.rows) {
    auto place = std::pair(named, file.text(row, "name"));
    if (place.first.device.empty()) place.first.device = file.text(row, "dev");
    if (const auto workload = WorkloadName::parse(file.text(row, "workload")))
      place = place_of(*workload);
    ModelResult& model = all.at(place.first, place.second);
    if (file.has("accuracy")) model.accuracy = file.text(row, "accuracy");
    if (!performance) continue;
    all.with_performance.insert(place.first);
    model.speedup = number(row, "speedup");
    model.latency_ms = number(row, "abs_latency");
    model.compile_seconds = number(row, "compilation_latency");
    model.compression_ratio = number(row, "compression_ratio");
    // A word in place of the speed-up, such as infra_error: the model did not run.
    const auto cell = file.cell(row, "speedup");
    if (cell && enum_from<Accuracy>(cell->word)) model.speedup = 0;
  }
  for (const std::string& line : file.refused) all.refused.push_back(line);
  if (const std::string line = words_line(words); !line.empty()) all.refused.push_back(line);
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

// The files of one measurement.
struct RunOfFiles {
  std::string date, folder, label;  // no date if no path tells one
  Collected all;
};

// "2026-08-20", with the time of day where the path tells that.
std::string date_of(const fs::path& path) {
  const auto time = when_of(path.string()).time;
  if (!time) return "";
  const std::string text = to_rfc3339(*time);
  return text.ends_with("T00:00:00Z") ? to_date(*time) : text;
}

// Whether both say the same thing of a model, so that one would hide the other.
bool overlap(const Collected& a, const Collected& b) {
  return std::any_of(b.models.begin(), b.models.end(), [&](const auto& one) {
    const auto found = a.models.find(one.first);
    if (found == a.models.end()) return false;
    const ModelResult &left = found->second, &right = one.second;
    return (left.speedup && right.speedup) || (!left.accuracy.empty() && !right.accuracy.empty());
  });
}

void join_results(Collected& into, Collected&& from) {
  for (auto& [place, model] : from.models) {
    ModelResult& there = into.at(place.first, place.second);
    const std::string accuracy = model.accuracy.empty() ? there.accuracy : model.accuracy;
    if (model.speedup || model.latency_ms) there = std::move(model);
    there.accuracy = accuracy;
  }
  into.with_performance.merge(from.with_performance);
}

// Into the run that it belongs to: of its own folder first, then any that it may complete.
void join_run(std::vector<RunOfFiles>& runs, const fs::path& path, Collected&& one) {
  const std::string date = date_of(path), folder = path.parent_path().string();
  for (const bool same_folder : {true, false})
    for (RunOfFiles& run : runs) {
      const bool fits = same_folder ? run.folder == folder && run.date == date
                                    : run.date == date || run.date.empty() || date.empty();
      if (fits && !overlap(run.all, one)) return join_results(run.all, std::move(one));
    }
  std::string label = !date.empty() ? date : folder.empty() ? "." : folder;
  if (std::any_of(runs.begin(), runs.end(),
                  [&](const RunOfFiles& run) { return run.label == label; }))
    label = path.string();
  runs.push_back({date, folder, label, std::move(one)});
}

void add_models(std::vector<ModelResult>& models, RunOfFiles& run, bool is_one_of_several) {
  for (auto& [place, model] : run.all.models) {
    // As on the dashboard: accurate, but without a row in the performance file, it failed there.
    if (!model.speedup && !model.latency_ms && run.all.with_performance.contains(place.first))
      model.speedup = 0;
    if (is_one_of_several) model.group.run = run.label;
    models.push_back(std::move(model));
  }
}

// To the end, which /dev/zero has not.
std::string whole_text(std::istream& in, const fs::path& file) {
  std::string text;
  std::vector<char> part(1 << 20);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > largest_file)
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
  try {
    if (is_gzip(text)) text = from_gzip(text, largest_file);
  } catch (const std::invalid_argument& problem) {
    refuse(problem.what());
  }
  // Excel and PowerShell write this mark, which says nothing in UTF-8.
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  if (text.empty()) refuse("it is empty");
  return text;
}

Group group_of_file(const fs::path& file) {
  const std::string stem = without_gz(file).stem().string();
  if (const auto found = dynamo_expected_name(stem))
    return {found->suite, word_of_ours(found->task), "", "", found->compiler};
  const auto found = dynamo_result_name(stem);
  if (!found) return {stem, "", "", "", ""};
  return {found->suite, word_of_ours(found->task), found->device, word_of_ours(found->precision),
          found->compiler};
}

std::string architecture_of_file(const fs::path& file) {
  const auto found = dynamo_result_name(without_gz(file).stem().string());
  return found ? found->architecture : "";
}

ModelResults read_models(const std::vector<fs::path>& files) {
  std::set<fs::path> paths(files.begin(), files.end());
  for (const fs::path& file : files)
    if (const auto other = accuracy_beside(file); !other.empty()) paths.insert(other);
  ModelResults results;
  std::vector<RunOfFiles> runs;
  for (const fs::path& path : paths) {
    Collected one;
    add_file(one, path);
    for (const std::string& line : one.refused)
      results.refused.push_back(path.string() + ": " + line);
    join_run(runs, path, std::move(one));
  }
  for (RunOfFiles& run : runs) add_models(results.models, run, runs.size() > 1);
  if (results.models.empty())
    throw BadInput("cannot sum up: there is no model in " + files.front().string());
  std::stable_sort(results.models.begin(), results.models.end(),
                   [](const ModelResult& a, const ModelResult& b) {
                     return std::tie(a.group, a.model) < std::tie(b.group, b.model);
                   });
  return results;
}

}  // namespace nightjar::cli
