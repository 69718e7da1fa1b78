// GET /series/{id}/history: what a plot of years needs, column by column.
#include "storage/series_history.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <set>

#include "bisect/statistics.hpp"
#include "service/api/routes.hpp"
#include "service/engine/verdict/levels.hpp"

namespace nightjar::service::api {
namespace {

struct PlottedSeries {
  Series series;
  storage::SeriesHistory found;
  bisect::SeriesNoise noise;
  std::vector<std::string> locks;
  std::vector<bisect::Interval> intervals;        // a point each
  std::vector<std::optional<double>> references;  // a point each
};

// The nights from which on levels before no longer count.
std::set<NightId> steps_of(storage::Database& db, const Series& series) {
  std::set<NightId> steps;
  storage::RegressionFilter filter;
  filter.metric = series.metric;
  filter.workload.glob = series.workload_name.str();
  constexpr int most = 500;
  for (const Regression& known : storage::list_regressions(db, filter, {most, {}}).items)
    if (is_real(known.state) &&
        std::any_of(known.series.begin(), known.series.end(),
                    [&](const auto& one) { return one.series == series.id; }))
      steps.insert(known.night);
  for (const auto& improvement : storage::improvements_of(db, series.id))
    steps.insert(improvement.night);
  if (const NightId marked = storage::marked_until(db, series))
    steps.insert(NightId{marked.value + 1});
  return steps;
}

// What a night after each point is held against: the median of the newest levels since the last
// step, as screening takes it.
std::vector<std::optional<double>> references_of(const storage::SeriesHistory& history,
                                                 const std::set<NightId>& steps) {
  constexpr std::size_t most_levels = 14;
  std::vector<std::optional<double>> references;
  std::deque<std::pair<NightId, double>> levels;
  std::vector<double> values;
  for (const auto& point : history.points) {
    if (point.level) {
      levels.emplace_back(point.level_night, *point.level);
      if (levels.size() > most_levels) levels.pop_front();
      const auto after = steps.upper_bound(point.level_night);
      if (after != steps.begin())
        std::erase_if(levels,
                      [step = *std::prev(after)](const auto& level) { return level.first < step; });
    }
    values.clear();
    for (const auto& [night, value] : levels) values.push_back(value);
    references.push_back(values.empty() ? std::nullopt : std::optional(bisect::median(values)));
  }
  return references;
}

// Seven digits are more than a plot can show, and half the bytes of all seventeen.
double for_plot(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10., 6 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) && scale > 0 ? std::round(value * scale) / scale : value;
}

std::optional<int> day_of(const std::string& date) {
  const auto midnight = parse_rfc3339(date + "T00:00:00Z");
  if (!midnight) return std::nullopt;
  return static_cast<int>(std::chrono::floor<std::chrono::days>(*midnight).time_since_epoch() /
                          std::chrono::days(1));
}

// A column: `of(point, index)` for each point.
template <class Of>
auto column(Of of) {
  return [of](const PlottedSeries& history) {
    const auto& points = history.found.points;
    std::vector<decltype(of(history, std::size_t()))> values;
    values.reserve(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) values.push_back(of(history, i));
    return values;
  };
}
template <class Of>
auto of_point(Of of) {
  return column([of](const PlottedSeries& history, std::size_t i) {
    return std::decay_t<decltype(of(history.found.points[i]))>(of(history.found.points[i]));
  });
}
auto interval_end(double bisect::Interval::*end) {
  return column([end](const PlottedSeries& history, std::size_t i) {
    return for_plot(history.intervals[i].*end);
  });
}
template <class Tag>
auto id_of(Id<Tag> storage::HistoryPoint::*id) {
  return of_point([id](const storage::HistoryPoint& point) {
    return (point.*id) ? std::optional(point.*id) : std::nullopt;
  });
}

std::optional<std::size_t> lock_of(const PlottedSeries& history, std::size_t i) {
  const auto& lock = history.found.points[i].lock;
  const auto found = std::find(history.locks.begin(), history.locks.end(), lock);
  if (found == history.locks.end()) return std::nullopt;
  return static_cast<std::size_t>(found - history.locks.begin());
}

const Row<PlottedSeries>& columns_row() {
  using Point = storage::HistoryPoint;
  static const Row<PlottedSeries> made(
      "SeriesColumns", "All columns have one value a nightly, oldest first.",
      {{"build", of_point([](const Point& point) { return point.build; })},
       {"version", of_point([](const Point& point) { return point.version; })},
       {"day", of_point([](const Point& point) { return day_of(point.date); }),
        "The day of the build's date, counted from 1970-01-01."},
       {"location",
        of_point([](const Point& point) { return for_plot(bisect::hodges_lehmann(point.values)); }),
        "Hodges-Lehmann location of the runs, in seven digits."},
       {"low", interval_end(&bisect::Interval::low), "Lower end of its 95 % interval."},
       {"high", interval_end(&bisect::Interval::high)},
       {"runs", of_point([](const Point& point) { return point.values.size(); })},
       {"level", column([](const PlottedSeries& history, std::size_t i) {
          const auto& level = history.references[i];
          return level ? std::optional(for_plot(*level)) : std::nullopt;
        }),
        "What is normal then: the median of up to 14 accepted levels since the last step."},
       {"job", id_of(&Point::job), "The job of the first run; null: it is not kept."},
       {"runner", id_of(&Point::runner)},
       {"facts", id_of(&Point::facts), "The machine's facts, as they were then."},
       {"lock", column(lock_of),
        "Place in `locks`; null: the packages are those of the runner's own Python."}});
  return made;
}

const Row<storage::NightWithout>& without_row() {
  using Night = storage::NightWithout;
  static const Row<Night> made("NightWithout", "A night that has no value of the series.",
                               {{"night", &Night::night},
                                {"build", or_null(&Night::build), "null: there was no new one."},
                                {"day", [](const Night& night) { return day_of(night.date); }},
                                {"reason", &Night::reason}});
  return made;
}

struct NamedRunner {
  RunnerId id;
  std::string name;
};
std::vector<NamedRunner> runners_then(const PlottedSeries& history, Rows& rows) {
  std::map<RunnerId, NamedRunner> named;
  for (const auto& point : history.found.points) {
    if (!point.runner || named.contains(point.runner)) continue;
    const auto runner = storage::find_runner(rows.db, point.runner);
    if (runner) named[point.runner] = {runner->id, runner->name};
  }
  std::vector<NamedRunner> all;
  for (auto& [id, one] : named) all.push_back(std::move(one));
  return all;
}
const Row<NamedRunner>& runner_name_row() {
  static const Row<NamedRunner> made("NamedRunner", "",
                                     {{"id", &NamedRunner::id}, {"name", &NamedRunner::name}});
  return made;
}

std::vector<MachineFacts> facts_then(const PlottedSeries& history, Rows& rows) {
  std::map<FactsId, MachineFacts> known;
  for (const auto& point : history.found.points) {
    if (!point.facts || known.contains(point.facts)) continue;
    if (auto facts = storage::find_facts(rows.db, point.facts))
      known.emplace(point.facts, *std::move(facts));
  }
  std::vector<MachineFacts> all;
  for (auto& [id, one] : known) all.push_back(std::move(one));
  return all;
}
const Row<MachineFacts>& facts_then_row() {
  static const Row<MachineFacts> made("FactsThen", "A machine's facts as they once were.",
                                      {{"id", &MachineFacts::id}, {"facts", &MachineFacts::facts}});
  return made;
}

const Row<PlottedSeries>& history_row() {
  const auto itself = [](const PlottedSeries& history) -> const PlottedSeries& { return history; };
  const auto noise = [](const PlottedSeries& history) {
    return history.noise.sd > 0 ? std::optional(history.noise.sd) : std::nullopt;
  };
  const auto without = [](const PlottedSeries& history) -> const auto& {
    return history.found.without;
  };
  static const Row<PlottedSeries> made(
      "SeriesHistory", "A series over all of its nightlies.",
      {{"series", [](const PlottedSeries& history) { return history.series.id; }},
       {"noise", noise, "Sd of single runs of one build (of logs); null: not known yet."},
       {"noise_class", [](const PlottedSeries& history) { return history.noise.kind; }},
       {"points", itself, columns_row()},
       {"without", without, without_row()},
       {"locks", &PlottedSeries::locks, "SHA-256 of each."},
       {"runners", runners_then, runner_name_row()},
       {"facts", facts_then, facts_then_row()}});
  return made;
}

PlottedSeries plotted_series(storage::Database& db, SeriesId id) {
  const auto series = storage::find_series(db, id);
  if (!series) refuse_unknown("series", id.value);
  PlottedSeries history{
      *series, storage::history_of_series(db, *series), noise_of(db, *series), {}, {}, {}};
  history.references = references_of(history.found, steps_of(db, *series));
  std::set<std::string> locks;
  for (const auto& point : history.found.points) {
    history.intervals.push_back(bisect::hodges_lehmann_interval(point.values, .95));
    if (!point.lock.empty()) locks.insert(point.lock);
  }
  history.locks.assign(locks.begin(), locks.end());
  return history;
}

}  // namespace

void add_series_history_routes(Routes& routes) {
  routes.read({.path = "/api/v1/series/{id}/history",
               .id = "get_series_history",
               .summary = "All that a plot of a series over years shows, column by column",
               .answers = {{.schema = history_row().schema()}},
               .problems = {{404, "SeriesNotFound", "There is no such series."}}},
              [](storage::Database& db, const web::Request& request) {
                const PlottedSeries history = plotted_series(db, path_id<SeriesId>(request));
                Rows rows(db);
                return json_answer(history_row().write(history, rows));
              });
}

}  // namespace nightjar::service::api
