#include "service/cli/result_series.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "bisect/statistics.hpp"
#include "service/cli/bench_files.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/known_units.hpp"
#include "service/cli/model_results.hpp"
#include "service/cli/result_file.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

// A result file, and what its position is called.
struct PlacedFile {
  std::string position;
  BenchFile results;
};

std::string position_name(const BenchFile& results, const fs::path& given) {
  constexpr std::size_t most_shown = 12;
  if (!results.commit.empty()) return results.commit.substr(0, most_shown);
  return results.date ? to_rfc3339(*results.date) : given.string();
}

void add_placed(std::vector<PlacedFile>& files, BenchFile results, const fs::path& given) {
  std::string position = position_name(results, given);
  files.push_back({std::move(position), std::move(results)});
}

void add_folder(std::vector<PlacedFile>& files, const fs::path& folder) {
  const std::string attempt = "cannot read " + folder.string() + ": ";
  const std::size_t before = files.size();
  try {
    for (const ResultText& one : read_result(folder, ""))
      if (auto results = read_bench_file(one.path, one.text))
        add_placed(files, std::move(*results), folder);
  } catch (const std::runtime_error& error) {
    throw BadInput(attempt + "a file in it " + error.what());
  }
  if (files.size() == before)
    throw BadInput(attempt + "it is a folder without result files of a known benchmark program");
}

void add_result_file(std::vector<PlacedFile>& files, const fs::path& path) {
  auto results = read_bench_file(path, read_text(path));
  if (!results)
    throw BadInput("cannot read " + path.string() +
                   " as one of several files: it has no results of a known benchmark program; a "
                   "CSV file is a series by itself");
  add_placed(files, std::move(*results), path);
}

// Returns for each file the number of its position.
std::vector<std::size_t> places_of(const std::vector<PlacedFile>& files, bool by_date) {
  std::map<std::pair<Time, std::string>, std::size_t> dated;
  std::map<std::string, std::size_t> listed;
  for (const PlacedFile& file : files) {
    listed.emplace(file.position, listed.size());
    if (by_date) dated.emplace(std::pair(*file.results.date, file.position), 0);
  }
  std::size_t next = 0;
  for (auto& [key, place] : dated) place = next++;
  std::vector<std::size_t> places;
  for (const PlacedFile& file : files)
    places.push_back(by_date ? dated.at({*file.results.date, file.position})
                             : listed.at(file.position));
  return places;
}

class ResultSeries {
 public:
  explicit ResultSeries(const std::vector<PlacedFile>& files) {
    const bool by_date = std::all_of(files.begin(), files.end(), [](const PlacedFile& file) {
      return file.results.date.has_value();
    });
    const auto places = places_of(files, by_date);
    names_.resize(*std::max_element(places.begin(), places.end()) + 1);
    for (std::size_t i = 0; i < files.size(); ++i) names_[places[i]] = files[i].position;
    kind_ = by_date ? PositionKind::dates : PositionKind::as_listed;
    for (std::size_t i = 0; i < files.size(); ++i)
      for (const BenchValue& value : files[i].results.values)
        add(value, places[i], static_cast<int>(i) + 1);
  }

  SeriesSet set() const {
    SeriesSet out;
    out.are_results = true;
    for (const auto& [name, one] : benchmarks_) {
      if (!one.problem.empty())
        out.left_out.emplace_back(name, one.problem);
      else if (one.runs.empty())
        out.left_out.emplace_back(name, "has no value in any file");
      else
        out.series.push_back(series(name, one));
    }
    return out;
  }

 private:
  struct Benchmark {
    std::string unit;
    Direction direction = Direction::unknown;
    std::map<std::size_t, std::vector<double>> runs = {};  // by place
    std::vector<int> unmeasured = {};                      // numbers of files, from 1 on
    std::string problem = {};
  };

  void add(const BenchValue& value, std::size_t place, int file) {
    Benchmark& one =
        benchmarks_.try_emplace(value.name, Benchmark{value.unit, value.direction}).first->second;
    if (value.samples.empty()) return one.unmeasured.push_back(file);
    double median = bisect::median(value.samples);
    if (value.unit != one.unit) {
      const Amount amount{median, known_unit(value.unit)};
      const auto converted = amount.unit ? amount.in(one.unit) : std::nullopt;
      if (!converted)
        one.problem = "is in '" + one.unit + "' in one file and in '" + value.unit + "' in another";
      else
        median = *converted;
    }
    if (!std::isfinite(median) || median <= 0)
      one.problem = "has a value that is not positive, in " + names_[place];
    one.runs[place].push_back(median);
  }

  Series series(const std::string& name, const Benchmark& one) const {
    Series out;
    out.benchmark = name;
    out.unit = one.unit;
    out.direction = one.direction;
    out.kind = kind_;
    out.unmeasured = one.unmeasured;
    for (const auto& [place, runs] : one.runs) {
      out.positions.push_back({static_cast<long long>(out.names.size()), runs});
      out.names.push_back(names_[place]);
    }
    return out;
  }

  std::vector<std::string> names_;  // of positions, in order of time
  PositionKind kind_ = PositionKind::as_listed;
  std::map<std::string, Benchmark> benchmarks_;
};

}  // namespace

SeriesSet read_series_set(const std::vector<fs::path>& files) {
  std::vector<PlacedFile> placed;
  if (files.size() == 1 && !fs::is_directory(files[0])) {
    const std::string text = read_text(files[0]);
    auto results = read_bench_file(files[0], text);
    if (!results) return {{parse_series(text, files[0])}, {}};
    add_placed(placed, std::move(*results), files[0]);
  } else {
    for (const fs::path& file : files)
      fs::is_directory(file) ? add_folder(placed, file) : add_result_file(placed, file);
  }
  return ResultSeries(placed).set();
}

}  // namespace nightjar::cli
