#include "bisect/cli/detect.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "bisect/cli/failure.hpp"

namespace nightjar::cli {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

void print_table(const std::vector<bisect::Change>& changes) {
  if (changes.empty()) {
    std::printf("no change\n");
    return;
  }
  std::printf("%10s  %-7s %12s %12s  %s\n", "position", "verdict", "before", "after", "ratio (95 % interval)");
  for (const bisect::Change& change : changes)
    std::printf("%10lld  %-7s %12.6g %12.6g  %.3f (%.3f to %.3f)\n", change.position,
                change.worse ? "worse" : "better", change.before, change.after, change.ratio.ratio,
                change.ratio.low, change.ratio.high);
}

void print_json(const std::vector<bisect::Position>& series,
                const std::vector<bisect::Change>& changes) {
  std::size_t points = 0;
  for (const auto& position : series) points += position.runs.size();
  auto list = nlohmann::json::array();
  for (const bisect::Change& change : changes)
    list.push_back({{"position", change.position},
                    {"verdict", change.worse ? "worse" : "better"},
                    {"before", change.before},
                    {"after", change.after},
                    {"ratio", change.ratio.ratio},
                    {"low", change.ratio.low},
                    {"high", change.ratio.high}});
  const nlohmann::json out{{"positions", series.size()}, {"points", points}, {"changes", list}};
  std::printf("%s\n", out.dump(2).c_str());
}

}  // namespace

std::vector<bisect::Position> read_series(const std::filesystem::path& file) {
  std::ifstream in(file);
  const std::string attempt = "cannot read the series " + file.string();
  if (!in) throw BadInput(attempt + ": no such file, or not readable");
  std::map<long long, std::vector<double>> runs;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
    const std::string where = attempt + ", line " + std::to_string(number) + ": ";
    if (number == 1) {
      if (!line.starts_with("position,value"))
        throw BadInput(where + "the first line must be 'position,value'");
      continue;
    }
    const auto comma = line.find(',');
    long long position = 0;
    double value = 0;
    if (comma == std::string::npos || !read_number(std::string_view(line).substr(0, comma), position) ||
        !read_number(std::string_view(line).substr(comma + 1), value))
      throw BadInput(where + "a whole number and a number are wanted, not '" + line.substr(0, 60) + "'");
    if (!std::isfinite(value) || value <= 0)
      throw BadInput(where + "the value must be positive and finite");
    runs[position].push_back(value);
  }
  if (runs.empty()) throw BadInput(attempt + ": it holds no values");
  std::vector<bisect::Position> series;
  for (auto& [position, values] : runs) series.push_back({position, std::move(values)});
  return series;
}

int detect(const DetectOptions& options) {
  const auto series = read_series(options.file);
  const auto changes = bisect::change_points(series, options.policy);
  if (options.json)
    print_json(series, changes);
  else
    print_table(changes);
  return 0;
}

}  // namespace nightjar::cli
