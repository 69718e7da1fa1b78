#include "service/cli/detect.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "service/cli/quantity_text.hpp"
#include "service/cli/series_file.hpp"
#include "storage/base/text_table.hpp"
#include "storage/model/json.hpp"

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

// What was found, and what could not have been.
struct Detected {
  std::vector<bisect::Change> changes;
  std::optional<bisect::Change> below;  // without any change: the largest that the threshold hides
  int unseen_first = 0, unseen_newest = 0;  // a change in so many positions cannot be seen
  bisect::ShortestLevels shortest;
  int least_positions = 0;  // in fewer, no change is seen
};

double size_of(const bisect::Change& change) {
  return std::fabs(std::log(change.ratio.ratio));
}

Detected detected(const Series& series, const bisect::DetectionPolicy& policy) {
  Detected out;
  out.changes = bisect::change_points(series.positions, policy);
  const int positions = static_cast<int>(series.positions.size());
  const int first =
      out.changes.empty() ? positions : static_cast<int>(out.changes.front().position);
  const int last =
      out.changes.empty() ? positions : positions - static_cast<int>(out.changes.back().position);
  out.least_positions = bisect::shortest_series();
  out.shortest = bisect::shortest_levels(positions, first, last);
  out.unseen_first = out.shortest.start ? out.shortest.start : first;
  out.unseen_newest = (out.shortest.end ? out.shortest.end : last) - 1;
  if (!out.changes.empty()) return out;
  bisect::DetectionPolicy any = policy;
  any.threshold = 0;
  for (const bisect::Change& change : bisect::change_points(series.positions, any))
    if (!out.below || size_of(change) > size_of(*out.below)) out.below = change;
  return out;
}

// Below a table, or without one: what the series cannot show.
void print_unseen(const Detected& found) {
  const std::string newest = found.unseen_newest == 1
                                 ? "the newest position"
                                 : formatted("the newest %d positions", found.unseen_newest);
  if (found.shortest.end)
    std::printf("a change in %s cannot be told yet: at least %d positions from it on are needed\n",
                newest.c_str(), found.shortest.end);
  else if (found.unseen_newest > 0)
    std::printf("a further change in %s cannot be told yet: there are too few since the last one\n",
                newest.c_str());
  if (found.shortest.start)
    std::printf("nor can one in the first %d: at least %d positions before it are needed\n",
                found.unseen_first, found.shortest.start);
}

void print_none(const Series& series, const Detected& found, double threshold) {
  const int positions = static_cast<int>(series.positions.size());
  if (positions < found.least_positions) {
    std::printf("too few positions to tell: %d, at least %d are needed\n", positions,
                found.least_positions);
    return;
  }
  if (found.below)
    std::printf("no change of the threshold, %s; a smaller one was seen at %s: %s\n",
                percent_text(threshold).c_str(), name_of_change(series, *found.below).c_str(),
                change_text(found.below->ratio).c_str());
  else
    std::printf("no change; ");
  print_unseen(found);
}

void print_table(const Series& series, const Detected& found, double threshold) {
  const auto& changes = found.changes;
  if (changes.empty()) return print_none(series, found, threshold);
  TextTable table{{"position", "verdict", "before", "after", "ratio (95 % interval)"}, {}, 2};
  for (const bisect::Change& change : changes)
    table.rows.push_back({name_of_change(series, change), change.worse ? "worse" : "better",
                          formatted("%.6g", change.before), formatted("%.6g", change.after),
                          formatted("%.3f (%.3f to %.3f)", change.ratio.ratio, change.ratio.low,
                                    change.ratio.high)});
  std::fputs(table_text(table, false).c_str(), stdout);
  print_unseen(found);
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

nlohmann::json change_json(const Series& series, const bisect::Change& change) {
  return {{"position", position_json(series, change)},
          {"verdict", change.worse ? "worse" : "better"},
          {"before", change.before},
          {"after", change.after},
          {"ratio", change.ratio.ratio},
          {"low", change.ratio.low},
          {"high", change.ratio.high}};
}

void print_json(const Series& series, const Detected& found) {
  std::size_t points = 0;
  for (const auto& position : series.positions) points += position.runs.size();
  auto list = nlohmann::json::array();
  for (const bisect::Change& change : found.changes) list.push_back(change_json(series, change));
  const nlohmann::json out{
      {"positions", series.positions.size()},
      {"points", points},
      {"changes", list},
      {"below_threshold", found.below ? change_json(series, *found.below) : nlohmann::json()},
      {"unseen", {{"first", found.unseen_first}, {"newest", found.unseen_newest}}},
      {"least_positions", found.least_positions}};
  std::printf("%s\n", out.dump(2).c_str());
}

}  // namespace

int detect(const DetectOptions& options) {
  const Series series = read_series(options.file);
  const Detected found = detected(series, options.policy);
  const auto& changes = found.changes;
  if (options.json)
    print_json(series, found);
  else
    print_table(series, found, options.policy.threshold);
  const bool worse =
      std::any_of(changes.begin(), changes.end(), [](const auto& change) { return change.worse; });
  return worse && options.fail_on_worse ? 1 : 0;
}

}  // namespace nightjar::cli
