#include "service/cli/detect.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "service/cli/series_file.hpp"
#include "service/cli/text_table.hpp"

namespace nightjar::cli {
namespace {

const std::string& name_of_change(const Series& series, const bisect::Change& change) {
  return series.names[static_cast<std::size_t>(change.position)];
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[80];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

void print_table(const Series& series, const std::vector<bisect::Change>& changes) {
  if (changes.empty()) {
    std::printf("no change\n");
    return;
  }
  TextTable table{{"position", "verdict", "before", "after", "ratio (95 % interval)"}, {}, 2};
  for (const bisect::Change& change : changes)
    table.rows.push_back({name_of_change(series, change), change.worse ? "worse" : "better",
                          formatted("%.6g", change.before), formatted("%.6g", change.after),
                          formatted("%.3f (%.3f to %.3f)", change.ratio.ratio, change.ratio.low, change.ratio.high)});
  std::fputs(table_text(table, false).c_str(), stdout);
}

// A whole number keeps all its digits.
nlohmann::json position_json(const Series& series, const bisect::Change& change) {
  const std::string& name = name_of_change(series, change);
  if (!series.numbers) return name;
  long long whole = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), whole);
  if (error == std::errc() && end == name.data() + name.size()) return whole;
  return std::stod(name);
}

void print_json(const Series& series, const std::vector<bisect::Change>& changes) {
  std::size_t points = 0;
  for (const auto& position : series.positions) points += position.runs.size();
  auto list = nlohmann::json::array();
  for (const bisect::Change& change : changes)
    list.push_back({{"position", position_json(series, change)},
                    {"verdict", change.worse ? "worse" : "better"},
                    {"before", change.before},
                    {"after", change.after},
                    {"ratio", change.ratio.ratio},
                    {"low", change.ratio.low},
                    {"high", change.ratio.high}});
  const nlohmann::json out{{"positions", series.positions.size()}, {"points", points}, {"changes", list}};
  std::printf("%s\n", out.dump(2).c_str());
}

}  // namespace

int detect(const DetectOptions& options) {
  const Series series = read_series(options.file);
  const auto changes = bisect::change_points(series.positions, options.policy);
  if (options.json)
    print_json(series, changes);
  else
    print_table(series, changes);
  const bool worse = std::any_of(changes.begin(), changes.end(), [](const auto& change) { return change.worse; });
  return worse && options.fail_on_worse ? 1 : 0;
}

}  // namespace nightjar::cli
