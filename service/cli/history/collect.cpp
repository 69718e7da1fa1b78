#include "service/cli/history/collect.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "service/cli/failure.hpp"
#include "service/cli/history/formats.hpp"
#include "service/cli/model_results.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t longest_origin = 400, longest_class = 200, longest_version = 100;

// Without the ending of a compression: its name tells what the file is all the same.
fs::path unpacked_name(const fs::path& path) {
  static const std::set<std::string> endings{".gz", ".zst", ".xz", ".bz2", ".lz4"};
  return endings.contains(path.extension().string()) ? path.parent_path() / path.stem() : path;
}

bool may_be_results(const fs::path& path) {
  const std::string ending = unpacked_name(path).extension().string();
  return ending == ".json" || ending == ".csv" || ending == ".jsonl" || ending == ".ndjson";
}

// Returns the file `path`, or all files below the folder `path`, sorted. Leaves out a repository's
// own folder. Adds to `others` the files that are named like no results.
std::vector<fs::path> files_of(const fs::path& path, int& others) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status))
    throw BadInput("cannot import " + path.string() + ": there is no such file or folder");
  if (!fs::is_directory(status)) return {path};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(path, error), end; it != end; it.increment(error)) {
    if (error) throw BadInput("cannot import " + path.string() + ": " + error.message());
    if (it->is_directory() && it->path().filename() == ".git") it.disable_recursion_pending();
    if (!it->is_regular_file()) continue;
    if (may_be_results(it->path()))
      files.push_back(it->path());
    else
      ++others;
  }
  if (error) throw BadInput("cannot import " + path.string() + ": " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

// With the name of the folder itself, which may tell the date.
std::string place_of(const fs::path& root, const fs::path& file) {
  const fs::path whole = fs::absolute(file).lexically_normal();
  fs::path base = fs::absolute(root).lexically_normal();
  if (!base.has_filename()) base = base.parent_path();
  return whole.lexically_relative(base.parent_path().parent_path()).string();
}

// What the service takes as one line.
std::string service_line(const std::string& text, std::size_t most) {
  return one_line(text.substr(text.size() - std::min(text.size(), most)));
}

// Two names that differ stay two.
std::string class_line(const std::string& text) {
  if (text.size() <= longest_class) return service_line(text, longest_class);
  const std::string digest = " " + digest_of(text).str().substr(0, 8);
  return service_line(text.substr(0, longest_class - digest.size()) + digest, longest_class);
}

// What makes two nights the same one.
using NightKey = std::tuple<std::string, Time, std::string, std::string>;

class Merger {
 public:
  void add(FoundNight night, const std::string& machine_class) {
    night.machine_class = class_line(machine_class.empty() ? night.machine_class : machine_class);
    if (night.machine_class.empty()) night.machine_class = "imported";
    night.night.origin = service_line(night.night.origin, longest_origin);
    night.night.version = service_line(night.night.version, longest_version);
    const NightKey key{night.machine_class, night.night.measured_at,
                       night.night.commit ? night.night.commit->str() : "", night.night.version};
    Merged& merged = nights_[key];
    if (merged.found.night.values.empty() && merged.places.empty()) {
      merged.found.machine_class = night.machine_class;
      merged.found.night = night.night;
      merged.found.night.values.clear();
    }
    for (HistoryValue& value : night.night.values) {
      if (night.any_batch && value.workload.batch() == "bdefault")
        merged.of_any_batch.insert({value.workload.str(), value.metric});
      put(merged, std::move(value), night);
    }
  }
  std::vector<FoundNight> nights() {
    settle_batches();
    std::vector<FoundNight> all;
    for (auto& [key, merged] : nights_) all.push_back(std::move(merged.found));
    return all;
  }
  std::vector<std::string> left_out;

 private:
  struct Merged {
    FoundNight found;
    std::map<std::pair<std::string, std::string>, std::size_t> places;
    std::set<std::size_t> of_instances;
    std::set<std::pair<std::string, std::string>> of_any_batch;  // workload and metric
  };

  // The model of a workload, whatever its batch: machine class and name.
  using ModelKey = std::pair<std::string, WorkloadName>;
  static ModelKey model_of(const std::string& machine_class, const WorkloadName& name) {
    return {machine_class, *name.variant(name.precision(), "bdefault", name.backend())};
  }

  // Where it is measured with one batch in that night: which.
  static std::map<ModelKey, std::set<std::string>> batches_in(const FoundNight& found) {
    std::map<ModelKey, std::set<std::string>> batches;
    for (const HistoryValue& value : found.night.values)
      if (value.metric == "speedup" || value.metric == "latency")
        batches[model_of(found.machine_class, value.workload)].insert(
            std::string(value.workload.batch()));
    return batches;
  }

  // A file that tells whether a model runs has another batch, or none, than the one that measured
  // it: its values become those of the model's batch in that night. A model that failed keeps that
  // of the night before, or else of the next, so that its series goes on.
  void settle_batches() {
    std::map<ModelKey, std::string> near;
    for (auto at = nights_.rbegin(); at != nights_.rend(); ++at)
      for (auto& [model, batches] : batches_in(at->second.found)) near[model] = *batches.begin();
    for (auto& night : nights_) {
      Merged& merged = night.second;
      const auto here = batches_in(merged.found);
      for (const auto& [model, batches] : here)
        near[model] = batches.size() == 1 ? *batches.begin() : "bdefault";
      std::vector<HistoryValue> all;
      all.swap(merged.found.night.values);
      merged.places.clear();
      merged.of_instances.clear();
      const FoundNight from = merged.found;
      const auto may_move = [&](const HistoryValue& value) {
        return merged.of_any_batch.contains({value.workload.str(), value.metric});
      };
      std::stable_partition(all.begin(), all.end(), std::not_fn(may_move));
      for (HistoryValue& value : all) {
        const auto found = near.find(model_of(from.machine_class, value.workload));
        if (may_move(value) && found != near.end())
          value.workload = *value.workload.variant(value.workload.precision(), found->second,
                                                   value.workload.backend());
        put(merged, std::move(value), from);
      }
    }
  }

  // Each may have a value, an accuracy, or both.
  static void join_outcomes(HistoryValue& there, const HistoryValue& other) {
    if (there.values.empty() || (!other.values.empty() && there.values < other.values))
      there.values = other.values;
    if (!there.accuracy) there.accuracy = other.accuracy;
  }

  void put(Merged& merged, HistoryValue value, const FoundNight& from) {
    auto& values = merged.found.night.values;
    const auto [place, is_new] =
        merged.places.try_emplace({value.workload.str(), value.metric}, values.size());
    if (is_new) {
      if (from.is_instance) merged.of_instances.insert(values.size());
      values.push_back(std::move(value));
      return;
    }
    HistoryValue& there = values[place->second];
    if (from.is_instance && merged.of_instances.contains(place->second)) {
      there.values.insert(there.values.end(), value.values.begin(), value.values.end());
      return;
    }
    // dynamo's accuracy and performance files each say whether a model failed.
    if (value.metric == failures_metric)
      join_outcomes(there, value);
    else if (there.values != value.values)
      left_out.push_back(from.night.origin + ": " + value.metric + " of " + value.workload.str() +
                         " has another value in " + merged.found.night.origin +
                         ", of the same night");
  }

  std::map<NightKey, Merged> nights_;
};

Reading read_history_file(const ResultFile& file, const std::string& wanted) {
  const Format* format = wanted == "auto" ? format_of(file) : find_format(wanted);
  if (!format) throw std::invalid_argument("it is of no format that is known here");
  return format->read(file);
}

// Texts of asv's benchmarks.json, which stands over the folders of the machines. Empty if there is
// none.
class AsvBenchmarks {
 public:
  const std::string& beside(const fs::path& file) {
    const fs::path path =
        fs::absolute(file).lexically_normal().parent_path().parent_path() / "benchmarks.json";
    const auto [found, is_new] = texts_.try_emplace(path.string());
    std::error_code error;
    try {
      if (is_new && fs::is_regular_file(path, error))
        found->second = json_of_python(read_text(path));
    } catch (const BadInput&) {  // the results are read all the same
    }
    return found->second;
  }

 private:
  std::map<std::string, std::string> texts_;
};

void add_counts(std::map<std::string, int>& all, const std::map<std::string, int>& counts) {
  for (const auto& [what, count] : counts) all[what] += count;
}

std::string text_of_result(const fs::path& path) {
  std::string text = read_text(path);
  const std::string ending = path.extension().string();
  if (unpacked_name(path) != path && ending != ".gz")
    throw std::invalid_argument("it is compressed as " + ending.substr(1) +
                                ", which is not read here; unpack it first");
  return text;
}

}  // namespace

Collection collect(const fs::path& path, const std::string& format,
                   const std::string& machine_class, const ChosenDirections& directions,
                   const std::function<void(std::size_t, std::size_t)>& progress) {
  Collection all;
  Merger merger;
  AsvBenchmarks benchmarks;
  const auto files = files_of(path, all.skipped);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string place = place_of(path, files[i]);
    ResultFile file{unpacked_name(place).string(), {}, {}, directions};
    if (is_beside(file)) {
      ++all.skipped;
      continue;
    }
    try {
      file.text = text_of_result(files[i]);
      file.beside = benchmarks.beside(files[i]);
      Reading reading = read_history_file(file, format);
      for (FoundNight& night : reading.nights) merger.add(std::move(night), machine_class);
      for (const std::string& line : reading.left_out) all.left_out.push_back(place + ": " + line);
      add_counts(all.unmeasured, reading.unmeasured);
      add_counts(all.not_taken, reading.not_taken);
      all.directions.merge(reading.directions);
      ++all.files;
    } catch (const std::exception& error) {
      all.not_read.emplace_back(place, error.what());
    }
    progress(i + 1, files.size());
  }
  all.nights = merger.nights();
  all.left_out.insert(all.left_out.end(), merger.left_out.begin(), merger.left_out.end());
  return all;
}

std::vector<Extent> extents_of(const std::vector<FoundNight>& nights) {
  std::map<std::pair<std::string, std::string>, Extent> extents;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> series;
  for (const FoundNight& found : nights) {
    std::set<std::string> suites;
    for (const HistoryValue& value : found.night.values) {
      if (value.values.empty()) continue;  // an accuracy alone
      const std::string suite(value.workload.suite());
      Extent& extent = extents[{found.machine_class, suite}];
      extent.machine_class = found.machine_class;
      extent.suite = suite;
      ++extent.values;
      series[{found.machine_class, suite}].insert(value.workload.str() + " " + value.metric);
      if (!suites.insert(suite).second) continue;
      const Time at = found.night.measured_at;
      extent.first = extent.nights == 0 ? at : std::min(extent.first, at);
      extent.last = std::max(extent.last, at);
      ++extent.nights;
    }
  }
  std::vector<Extent> out;
  for (auto& [key, extent] : extents) {
    extent.series = series[key].size();
    out.push_back(std::move(extent));
  }
  return out;
}

std::vector<History> batches_of(const std::vector<FoundNight>& nights, std::size_t most) {
  std::vector<History> batches;
  std::size_t room = 0;
  for (const FoundNight& found : nights) {
    for (std::size_t at = 0; at < found.night.values.size();) {
      const bool other_class =
          batches.empty() || batches.back().machine_class != found.machine_class;
      if (room == 0 || other_class) {
        batches.push_back({found.machine_class, {}});
        room = most;
      }
      const std::size_t count = std::min(room, found.night.values.size() - at);
      HistoryNight part = {
          found.night.measured_at, found.night.version, found.night.commit, found.night.origin, {}};
      const auto begin = found.night.values.begin() + static_cast<std::ptrdiff_t>(at);
      part.values.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
      batches.back().nights.push_back(std::move(part));
      at += count;
      room = batches.back().nights.size() >= 500 ? 0 : room - count;
    }
  }
  return batches;
}

}  // namespace nightjar::cli
