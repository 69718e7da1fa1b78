#include "service/cli/detect.hpp"

#include <algorithm>
#include <string>

#include "service/cli/badge.hpp"
#include "service/cli/detect_text.hpp"
#include "service/cli/quantity_text.hpp"
#include "service/cli/result_series.hpp"
#include "storage/base/terminal.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {

struct JudgedSeries {
  Series series;
  Detected found;

  bool has_changed() const { return !found.levels.changes.empty() || found.levels.whole_counts; }
  bool is_too_short() const {
    return static_cast<int>(series.positions.size()) < bisect::shortest_series();
  }
  bool is_worse() const {
    const bisect::Levels& levels = found.levels;
    return series.direction != Direction::unknown &&
           (std::any_of(levels.changes.begin(), levels.changes.end(),
                        [](const auto& change) { return change.worse; }) ||
            (levels.whole_counts && levels.whole->worse));
  }
};

// Each series counts with its newest change. A single one names it.
Badge badge_for(const std::vector<JudgedSeries>& judged) {
  BadgeCounts counts{.all = static_cast<int>(judged.size())};
  for (const JudgedSeries& one : judged) {
    const auto& changes = one.found.levels.changes;
    const bool is_known = one.series.direction != Direction::unknown;
    counts.same += changes.empty() && !one.is_too_short();
    counts.worse += !changes.empty() && is_known && changes.back().worse;
    counts.better += !changes.empty() && is_known && !changes.back().worse;
  }
  Badge badge = badge_of(counts);
  if (counts.all == 1 && counts.worse + counts.better == 1) {
    const Series& series = judged[0].series;
    const bisect::Change& newest = judged[0].found.levels.changes.back();
    badge.message = signed_percent(newest.ratio.ratio) + " at " +
                    series.names[static_cast<std::size_t>(newest.position)];
  }
  return badge;
}

// What the user chose comes before what the file says.
JudgedSeries judge_series(Series series, const DetectOptions& options) {
  if (options.direction) series.direction = *options.direction;
  bisect::DetectionPolicy policy;
  policy.threshold = options.threshold;
  policy.direction = series.direction;
  Detected found = detected(series, policy);
  return {std::move(series), std::move(found)};
}

std::string heading_of(const Series& series) {
  return series.unit.empty() ? series.benchmark : series.benchmark + " (" + series.unit + ")";
}

// "12 benchmarks did not change: a, b"
void print_names(const std::vector<JudgedSeries>& judged, const char* what,
                 bool (*fits)(const JudgedSeries&)) {
  std::string names;
  std::size_t count = 0;
  for (const JudgedSeries& one : judged) {
    if (!fits(one)) continue;
    names += (count++ ? ", " : "") + one.series.benchmark;
  }
  if (count > 0) say(stdout, "%zu %s: %s\n", count, what, names.c_str());
}

void print_benchmarks(const std::vector<JudgedSeries>& judged, double threshold) {
  for (const JudgedSeries& one : judged) {
    if (!one.has_changed() && judged.size() > 1) continue;
    say(stdout, "%s:\n", heading_of(one.series).c_str());
    print_detected(one.series, one.found, threshold);
  }
  if (judged.size() == 1) return;
  print_names(judged, "did not change",
              [](const JudgedSeries& one) { return !one.has_changed() && !one.is_too_short(); });
  print_names(judged,
              ("have too few positions to tell, at least " +
               std::to_string(bisect::shortest_series()) + " are needed")
                  .c_str(),
              [](const JudgedSeries& one) { return one.is_too_short(); });
}

nlohmann::json benchmarks_json(const std::vector<JudgedSeries>& judged, const SeriesSet& set) {
  nlohmann::json out{{"benchmarks", nlohmann::json::array()},
                     {"left_out", nlohmann::json::array()}};
  for (const JudgedSeries& one : judged) {
    const Series& series = one.series;
    auto object = detected_json(series, one.found);
    object["benchmark"] = series.benchmark;
    object["unit"] = series.unit.empty() ? nlohmann::json() : nlohmann::json(series.unit);
    object["direction"] = series.direction == Direction::unknown            ? "unknown"
                          : series.direction == Direction::higher_is_better ? "higher"
                                                                            : "lower";
    out["benchmarks"].push_back(std::move(object));
  }
  for (const auto& [benchmark, reason] : set.left_out)
    out["left_out"].push_back({{"benchmark", benchmark}, {"reason", reason}});
  return out;
}

void print_all(const std::vector<JudgedSeries>& judged, const SeriesSet& set,
               const DetectOptions& options) {
  if (options.json) {
    const auto json = set.are_results ? benchmarks_json(judged, set)
                                      : detected_json(judged.at(0).series, judged[0].found);
    put_text(stdout, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return;
  }
  if (!set.are_results) {
    print_unmeasured(judged.at(0).series);
    return print_detected(judged[0].series, judged[0].found, options.threshold);
  }
  print_benchmarks(judged, options.threshold);
  for (const auto& [benchmark, reason] : set.left_out)
    say(stdout, "left out: %s %s\n", benchmark.c_str(), reason.c_str());
}

}  // namespace

int detect(const DetectOptions& options) {
  require_place_for_badge(options.badge);
  SeriesSet set = read_series_set(options.files);
  std::vector<JudgedSeries> judged;
  for (Series& series : set.series) judged.push_back(judge_series(std::move(series), options));
  write_badge(options.badge, badge_for(judged));
  print_all(judged, set, options);
  const bool worse = std::any_of(judged.begin(), judged.end(),
                                 [](const JudgedSeries& one) { return one.is_worse(); });
  return worse && options.fail_on_worse ? 1 : 0;
}

}  // namespace nightjar::cli
