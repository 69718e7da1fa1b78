#include "service/cli/detect_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>

#include "service/cli/quantity_text.hpp"
#include "storage/base/terminal.hpp"
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

std::vector<Stretch> short_stretches(const bisect::Levels& levels) {
  std::vector<Stretch> out;
  for (std::size_t i = 0; i + 1 < levels.changes.size(); ++i) {
    const auto from = levels.changes[i].until, to = levels.changes[i + 1].position;
    if (!bisect::shortest_levels(static_cast<int>(to - from), levels.tests).outer)
      out.push_back({from, to - 1});
  }
  return out;
}

std::string ratio_text(const bisect::Ratio& ratio) {
  return formatted("%.3f (%.3f to %.3f)", ratio.ratio, ratio.low, ratio.high);
}

const char* verdict_of(const Series& series, const bisect::Change& change) {
  if (series.direction == Direction::unknown) return "changed";
  return change.worse ? "worse" : "better";
}

// "30 to 37, 44 to 50"
std::string names_of(const Series& series, const std::vector<Stretch>& stretches) {
  std::string text;
  for (const Stretch& stretch : stretches)
    text += (text.empty() ? "" : ", ") + series.names[static_cast<std::size_t>(stretch.first)] +
            " to " + series.names[static_cast<std::size_t>(stretch.last)];
  return text;
}

// Below a table, or without one: what the series cannot show.
void print_unseen(const Series& series, const Detected& found) {
  const std::string newest = found.unseen_newest == 1
                                 ? "the newest position"
                                 : formatted("the newest %d positions", found.unseen_newest);
  if (found.needed_newest)
    say(stdout, "a change in %s cannot be told yet: at least %d positions from it on are needed\n",
        newest.c_str(), found.needed_newest);
  else if (found.unseen_newest > 0)
    say(stdout, "a further change in %s cannot be told yet: there are too few since the last one\n",
        newest.c_str());
  if (found.needed_first)
    say(stdout, "nor can one in the first %d: at least %d positions before it are needed\n",
        found.unseen_first, found.needed_first);
  if (!found.unseen_between.empty())
    say(stdout, "nor can a further one between two changes that are so near: %s\n",
        names_of(series, found.unseen_between).c_str());
  say(stdout,
      "nor can a level of fewer than %d positions, wherever it lies: it counts as a spike\n",
      bisect::shortest_level);
}

// The change from the first level to the last. It may be a worsening where no single step is.
void print_whole(const Series& series, const Detected& found) {
  const auto& whole = found.levels.whole;
  if (!whole) return;
  const std::string steps = whole->steps == 1 ? "1 step" : formatted("%d steps", whole->steps);
  say(stdout, "from first to last: %s, from %.6g to %.6g in %s%s%s\n",
      change_text(whole->ratio).c_str(), whole->before, whole->after, steps.c_str(),
      found.levels.whole_counts ? ": " : "",
      found.levels.whole_counts ? verdict_of(series, *whole) : "");
}

void print_none(const Series& series, const Detected& found, double threshold) {
  const int positions = static_cast<int>(series.positions.size());
  if (positions < bisect::shortest_series()) {
    say(stdout, "too few positions to tell: %d, at least %d are needed\n", positions,
        bisect::shortest_series());
    return;
  }
  if (const auto& below = found.levels.below)
    say(stdout, "no change of the threshold, %s; a smaller one was seen at %s: %s\n",
        percent_text(threshold).c_str(), name_of_change(series, *below).c_str(),
        change_text(below->ratio).c_str());
  else
    say(stdout, "no change; ");
  print_whole(series, found);
  print_unseen(series, found);
}

std::string position_text(const Series& series, const bisect::Change& change) {
  const std::string& first = name_of_change(series, change);
  if (change.steps == 1) return first;
  return first + " to " + series.names[static_cast<std::size_t>(change.until)] +
         formatted(", in %d steps", change.steps);
}

// How the positions were brought into order.
const char* name_of_order(PositionKind kind) {
  switch (kind) {
    case PositionKind::numbers:
      return "numbers";
    case PositionKind::versions:
      return "versions";
    case PositionKind::dates:
      return "dates";
    case PositionKind::as_listed:
      return "file";
  }
  return "";
}

// A whole number keeps all its digits.
nlohmann::json position_json(const Series& series, long long position) {
  const std::string& name = series.names[static_cast<std::size_t>(position)];
  if (series.kind != PositionKind::numbers) return name;
  long long whole = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), whole);
  if (error == std::errc() && end == name.data() + name.size()) return whole;
  return std::stod(name);
}

nlohmann::json change_json(const Series& series, const bisect::Change& change) {
  return {{"position", position_json(series, change.position)},
          {"until", position_json(series, change.until)},
          {"steps", change.steps},
          {"verdict", verdict_of(series, change)},
          {"before", change.before},
          {"after", change.after},
          {"ratio", change.ratio.ratio},
          {"low", change.ratio.low},
          {"high", change.ratio.high}};
}

nlohmann::json whole_json(const Series& series, const bisect::Levels& levels) {
  if (!levels.whole) return {};
  auto json = change_json(series, *levels.whole);
  if (!levels.whole_counts) json["verdict"] = "same";
  return json;
}

}  // namespace

Detected detected(const Series& series, const bisect::DetectionPolicy& policy) {
  Detected out;
  out.levels = bisect::find_levels(series.positions, policy);
  const auto& changes = out.levels.changes;
  const int positions = static_cast<int>(series.positions.size());
  const int first = changes.empty() ? positions : static_cast<int>(changes.front().position);
  const int last = changes.empty() ? positions : positions - static_cast<int>(changes.back().until);
  out.needed_first = bisect::shortest_levels(first, out.levels.tests).outer;
  out.needed_newest = bisect::shortest_levels(last, out.levels.tests).outer;
  out.unseen_first = out.needed_first ? out.needed_first : first;
  out.unseen_newest = (out.needed_newest ? out.needed_newest : last) - 1;
  out.unseen_between = short_stretches(out.levels);
  return out;
}

void print_detected(const Series& series, const Detected& found, double threshold) {
  const auto& changes = found.levels.changes;
  if (changes.empty()) return print_none(series, found, threshold);
  TextTable table{{"position", "verdict", "before", "after", "ratio (95 % interval)"}, {}, 2};
  for (const bisect::Change& change : changes)
    table.rows.push_back({position_text(series, change), verdict_of(series, change),
                          formatted("%.6g", change.before), formatted("%.6g", change.after),
                          ratio_text(change.ratio)});
  std::fputs(table_text(table, false).c_str(), stdout);
  print_whole(series, found);
  print_unseen(series, found);
}

void print_unmeasured(const Series& series) {
  if (series.unmeasured.empty()) return;
  constexpr std::size_t most = 5;
  std::string lines;
  for (std::size_t i = 0; i < std::min(series.unmeasured.size(), most); ++i)
    lines += (i ? ", " : "") + std::to_string(series.unmeasured[i]);
  say(stderr, "%zu rows have no value and are left out: line %s%s\n", series.unmeasured.size(),
      lines.c_str(), series.unmeasured.size() > most ? " and others" : "");
}

nlohmann::json detected_json(const Series& series, const Detected& found) {
  const bisect::Levels& levels = found.levels;
  std::size_t points = 0;
  for (const auto& position : series.positions) points += position.runs.size();
  auto list = nlohmann::json::array(), between = nlohmann::json::array();
  for (const bisect::Change& change : levels.changes) list.push_back(change_json(series, change));
  for (const Stretch& stretch : found.unseen_between)
    between.push_back({{"first", position_json(series, stretch.first)},
                       {"last", position_json(series, stretch.last)}});
  const bool hidden = levels.changes.empty() && levels.below;
  return {{"positions", series.positions.size()},
          {"points", points},
          {"order", name_of_order(series.kind)},
          {"unmeasured", series.unmeasured.size()},
          {"changes", list},
          {"from_first_to_last", whole_json(series, levels)},
          {"below_threshold", hidden ? change_json(series, *levels.below) : nlohmann::json()},
          {"unseen",
           {{"first", found.unseen_first}, {"newest", found.unseen_newest}, {"between", between}}},
          {"shortest_level", bisect::shortest_level},
          {"least_positions", bisect::shortest_series()}};
}

}  // namespace nightjar::cli
