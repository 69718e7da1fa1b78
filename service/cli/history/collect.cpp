#include "service/cli/history/collect.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "service/cli/failure.hpp"
#include "service/cli/history/formats.hpp"
#include "service/cli/model_results.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongestOrigin = 400, kLongestClass = 200, kLongestVersion = 100;

bool may_be_results(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".json" || ending == ".csv" || ending == ".jsonl" || ending == ".ndjson";
}

// Returns the file `path`, or all files below the folder `path`, sorted. Leaves out a repository's
// own folder.
std::vector<fs::path> files_of(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status))
    throw BadInput("cannot import " + path.string() + ": there is no such file or folder");
  if (!fs::is_directory(status)) return {path};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(path, error), end; it != end; it.increment(error)) {
    if (error) throw BadInput("cannot import " + path.string() + ": " + error.message());
    if (it->is_directory() && it->path().filename() == ".git") it.disable_recursion_pending();
    if (it->is_regular_file() && may_be_results(it->path())) files.push_back(it->path());
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
std::string service_line(std::string text, std::size_t most) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text.size() > most ? text.substr(text.size() - most) : text;
}

// What makes two nights the same one.
using NightKey = std::tuple<std::string, Time, std::string, std::string>;

class Merger {
 public:
  void add(FoundNight night, const std::string& machine_class) {
    night.machine_class =
        service_line(machine_class.empty() ? night.machine_class : machine_class, kLongestClass);
    if (night.machine_class.empty()) night.machine_class = "imported";
    night.night.origin = service_line(night.night.origin, kLongestOrigin);
    night.night.version = service_line(night.night.version, kLongestVersion);
    const NightKey key{night.machine_class, night.night.measured_at,
                       night.night.commit ? night.night.commit->str() : "", night.night.version};
    Merged& merged = nights_[key];
    if (merged.found.night.values.empty() && merged.places.empty()) {
      merged.found.machine_class = night.machine_class;
      merged.found.night = night.night;
      merged.found.night.values.clear();
    }
    for (HistoryValue& value : night.night.values) put(merged, std::move(value), night);
  }
  std::vector<FoundNight> nights() {
    std::vector<FoundNight> all;
    for (auto& [key, merged] : nights_) all.push_back(std::move(merged.found));
    return all;
  }
  std::vector<std::string> left_out;

 private:
  struct Merged {
    FoundNight found;
    std::map<std::pair<std::string, std::string>, std::size_t> places;
  };

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
      values.push_back(std::move(value));
      return;
    }
    HistoryValue& there = values[place->second];
    // dynamo's accuracy and performance files each say whether a model failed.
    if (value.metric == kFailures)
      join_outcomes(there, value);
    else if (there.values != value.values)
      left_out.push_back(from.night.origin + ": " + value.metric + " of " + value.workload.str() +
                         " has another value in " + merged.found.night.origin +
                         ", of the same night");
  }

  std::map<NightKey, Merged> nights_;
};

Reading read_result(const ResultFile& file, const std::string& wanted) {
  const Format* format = wanted == "auto" ? format_of(file) : find_format(wanted);
  if (!format) throw std::invalid_argument("it is of no format that is known here");
  return format->read(file);
}

}  // namespace

Collection collect(const fs::path& path, const std::string& format,
                   const std::string& machine_class,
                   const std::function<void(std::size_t, std::size_t)>& progress) {
  Collection all;
  Merger merger;
  const auto files = files_of(path);
  for (std::size_t i = 0; i < files.size(); ++i) {
    ResultFile file{place_of(path, files[i]), {}};
    if (is_beside(file)) continue;
    try {
      file.text = read_text(files[i]);
      Reading reading = read_result(file, format);
      for (FoundNight& night : reading.nights) merger.add(std::move(night), machine_class);
      for (const std::string& line : reading.left_out)
        all.left_out.push_back(file.place + ": " + line);
      all.unmeasured += reading.unmeasured;
      ++all.files;
    } catch (const std::exception& error) {
      all.not_read.emplace_back(file.place, error.what());
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
