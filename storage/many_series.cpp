#include "storage/many_series.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "storage/mark_rows.hpp"
#include "storage/paging.hpp"
#include "storage/series.hpp"
#include "storage/series_rows.hpp"

namespace nightjar::storage {
namespace {

// For json_each().
std::string list_of(const std::vector<SeriesId>& series) {
  std::string text;
  for (const SeriesId id : series) text += (text.empty() ? "[" : ",") + std::to_string(id.value);
  return text.empty() ? "[]" : text + "]";
}

// Returns the newest nightlies that a night measured, newest first.
std::vector<BuildId> newest_nightlies(const Database& db, int limit) {
  Statement find(db,
                 "SELECT id FROM build WHERE kind = 'nightly' AND id IN (SELECT build FROM night) "
                 "ORDER BY date DESC, version COLLATE by_number DESC, id DESC LIMIT ?");
  return read_all(find.bind(limit), [](Statement& row) { return row.next<BuildId>(); });
}

// Calls take(series, build, value) for the screen runs of these builds, for each of `wanted` that
// has any. A series' builds lie together by id, so that one range of them is read.
template <class Take>
void read_values(const Database& db, const std::vector<SeriesId>& wanted,
                 const std::set<BuildId>& builds, Take take) {
  if (wanted.empty() || builds.empty()) return;
  Statement find(db,
                 "SELECT v.series, v.build, v.value FROM json_each(?) AS wanted "
                 "CROSS JOIN series_value v ON v.series = wanted.value "
                 "AND v.build BETWEEN ? AND ? AND v.screened = 1");
  const std::string ids = list_of(wanted);
  find.bind(ids, *builds.begin(), *builds.rbegin());
  while (find.step()) {
    const auto series = find.next<SeriesId>();
    const auto build = find.next<BuildId>();
    if (builds.contains(build)) take(series, build, find.next<double>());
  }
}

void add_values(const Database& db, const std::vector<SeriesId>& wanted,
                const std::set<BuildId>& builds, std::map<SeriesId, ValuesOfBuilds>& all) {
  std::pair<SeriesId, BuildId> last;
  std::vector<double>* values = nullptr;
  read_values(db, wanted, builds, [&](SeriesId series, BuildId build, double value) {
    if (std::pair(series, build) != last) values = &all[series].emplace_back();
    last = {series, build};
    values->push_back(value);
  });
}

}  // namespace

std::vector<MeasuredSeries> series_measured_in(const Database& db, NightId night, JobKind kind,
                                               const std::optional<std::string>& metric) {
  const std::string of_metric = metric ? "AND series.metric = ?2 " : "";
  Statement find(db, "SELECT " SERIES_COLUMNS ", " SERIES_RUN_COLUMNS
                     " FROM job CROSS JOIN run ON run.job = job.id "
                     "CROSS JOIN build ON build.id = run.build "
                     "CROSS JOIN series ON series.workload = run.workload "
                     "AND series.machine = job.machine AND series.variant = build.variant " +
                         of_metric +
                         "CROSS JOIN series_value v ON v.series = series.id "
                         "AND v.build = run.build AND v.run = run.id "
                         "CROSS JOIN workload ON workload.id = series.workload "
                         "WHERE job.night = ?1 AND job.kind = " +
                         literal(kind) + " ORDER BY series.id, job.id, run.position");
  find.bind(night);
  if (metric) find.bind(*metric);
  std::vector<MeasuredSeries> all;
  while (find.step()) {
    const auto id = find.next<SeriesId>();
    if (all.empty() || all.back().series.id != id) {
      find.skip(-1);
      all.push_back({read_series(find), {}});
    } else {
      find.skip(6);
    }
    all.back().runs.push_back(read_series_run(find));
  }
  return all;
}

RunId newest_run(const Database& db) {
  Statement find(db, "SELECT max(id) FROM run");
  find.step();
  return find.next<RunId>();
}

bool measured_since(const Database& db, RunId last, const std::set<NightId>& nights) {
  Statement find(db,
                 "SELECT DISTINCT job.night FROM run CROSS JOIN job ON job.id = run.job "
                 "WHERE run.id > ? AND job.night IS NOT NULL");
  find.bind(last);
  while (find.step())
    if (nights.contains(find.next<NightId>())) return true;
  return false;
}

std::vector<SeriesRun> runs_of_build(const Database& db, SeriesId series, BuildId build,
                                     NightId night, JobKind kind) {
  Statement find(db, "SELECT " SERIES_RUN_COLUMNS
                     " FROM series_value v CROSS JOIN run ON run.id = v.run "
                     "CROSS JOIN job ON job.id = run.job WHERE v.series = ? AND v.build = ? "
                     "AND job.night = ? AND job.kind = " +
                         literal(kind) + " ORDER BY job.id, run.position");
  return read_all(find.bind(series, build, night), read_series_run);
}

std::map<SeriesId, ValuesOfBuilds> newest_values(const Database& db,
                                                 const std::vector<SeriesId>& series, int limit) {
  std::map<SeriesId, ValuesOfBuilds> all;
  std::vector<SeriesId> wanted = series;
  const auto add = [&](const std::set<BuildId>& builds) {
    add_values(db, wanted, builds, all);
    std::erase_if(wanted, [&](SeriesId id) {
      const auto found = all.find(id);
      return found != all.end() && std::cmp_equal(found->second.size(), limit);
    });
  };
  const std::vector<BuildId> builds = newest_nightlies(db, 2 * limit);
  const auto older = builds.begin() + std::min<std::ptrdiff_t>(limit, std::ssize(builds));
  add({builds.begin(), older});
  // A series that missed some of these nights has as many older ones.
  for (auto build = older; build != builds.end() && !wanted.empty(); ++build) add({*build});
  if (std::cmp_less(builds.size(), 2 * limit)) return all;  // there are none before
  // A series that missed many, or that is young where others have a long history.
  for (const SeriesId id : wanted) {
    ValuesOfBuilds values;
    for (SeriesPoint& point : points_of_series(db, id, limit))
      values.push_back(std::move(point.values));
    if (!values.empty()) all[id] = std::move(values);
  }
  return all;
}

std::map<SeriesId, std::vector<Level>> newest_levels(const Database& db,
                                                     const std::vector<SeriesId>& series,
                                                     NightId before, int limit) {
  Statement find(db, "SELECT " LEVEL_COLUMNS
                     " FROM json_each(?) AS wanted CROSS JOIN level ON level.series = wanted.value "
                     "AND level.build IN (SELECT l.build FROM level AS l "
                     "WHERE l.series = wanted.value AND " IS_LEVEL_BEFORE(
                         "l.night") "ORDER BY l.night DESC, l.build DESC LIMIT ?)");
  const std::string ids = list_of(series);
  find.bind(ids, before, limit);
  std::map<SeriesId, std::vector<Level>> all;
  while (find.step()) {
    const Level level = read_level(find);
    all[level.series].push_back(level);
  }
  for (auto& [id, levels] : all)
    std::sort(levels.begin(), levels.end(), [](const Level& a, const Level& b) {
      return std::tie(a.night, a.build) > std::tie(b.night, b.build);
    });
  return all;
}

std::vector<MeasuredBuild> builds_measured_on(const Database& db, MachineId machine) {
  Statement find(db,
                 "SELECT id, version, date FROM build WHERE kind = 'nightly' AND id IN "
                 "(SELECT night.build FROM night WHERE night.state = 'done' AND EXISTS "
                 "(SELECT 1 FROM job WHERE job.night = night.id AND job.kind = 'screen' "
                 "AND job.machine = ?)) "
                 "ORDER BY date DESC, version COLLATE by_number DESC, id DESC");
  return read_all(find.bind(machine), [](Statement& row) -> MeasuredBuild {
    return {row.next<BuildId>(), row.next<std::string>(), row.next<std::string>()};
  });
}

std::map<SeriesId, std::vector<SeriesPoint>> points_of_builds(
    const Database& db, const std::vector<SeriesId>& series,
    const std::vector<MeasuredBuild>& builds) {
  std::set<BuildId> ids;
  for (const MeasuredBuild& build : builds) ids.insert(build.id);
  std::map<SeriesId, std::map<BuildId, std::vector<double>>> values;
  read_values(db, series, ids, [&](SeriesId one, BuildId build, double value) {
    values[one][build].push_back(value);
  });
  std::map<SeriesId, std::vector<SeriesPoint>> all;
  for (auto& [one, by_build] : values)
    for (const MeasuredBuild& build : builds)
      if (const auto found = by_build.find(build.id); found != by_build.end())
        all[one].push_back({build.id, build.version, build.date, std::move(found->second)});
  return all;
}

std::optional<Ending> newest_failure(const Database& db, WorkloadId workload, BuildId build,
                                     MachineId machine) {
  Statement find(db,
                 "SELECT run.status, run.reason FROM run CROSS JOIN job ON job.id = run.job "
                 "WHERE run.workload = ? AND run.build = ? AND job.machine = ? "
                 "AND run.status <> 'measured' ORDER BY run.id DESC LIMIT 1");
  find.bind(workload, build, machine);
  return read_one(find, [](Statement& row) -> Ending {
    return {row.next<RunStatus>(), row.next<std::string>()};
  });
}

std::map<SeriesId, std::vector<BetterSince>> better_since(const Database& db,
                                                          const std::vector<SeriesId>& series,
                                                          NightId before) {
  Statement find(db,
                 "SELECT series, night, coalesce((SELECT level.night FROM level "
                 "WHERE level.series = improvement.series AND level.build = improvement.build), "
                 "night) FROM json_each(?) AS wanted CROSS JOIN improvement "
                 "ON improvement.series = wanted.value WHERE night < ?");
  const std::string ids = list_of(series);
  find.bind(ids, before);
  std::map<SeriesId, std::vector<BetterSince>> all;
  while (find.step()) {
    const auto id = find.next<SeriesId>();
    const auto shown = find.next<NightId>();
    all[id].push_back({shown, find.next<NightId>()});
  }
  return all;
}

std::map<SeriesId, NightId> last_regressions(const Database& db,
                                             const std::vector<RegressionState>& states,
                                             NightId before) {
  std::map<SeriesId, NightId> last;
  for (const RegressionState state : states) {
    Statement find(db,
                   "SELECT shown.series, regression.night FROM regression "
                   "CROSS JOIN regression_series AS shown ON shown.regression = regression.id "
                   "WHERE regression.state = ? AND regression.night < ?");
    find.bind(state, before);
    while (find.step()) {
      NightId& night = last[find.next<SeriesId>()];
      night = std::max(night, find.next<NightId>());
    }
  }
  return last;
}

std::map<SeriesId, std::vector<RegressionId>> regressions_by_series(
    const Database& db, const std::vector<RegressionState>& states) {
  std::map<SeriesId, std::vector<RegressionId>> all;
  for (const RegressionState state : states) {
    Statement find(db,
                   "SELECT shown.series, regression.id FROM regression CROSS JOIN "
                   "regression_series AS shown ON shown.regression = regression.id "
                   "WHERE regression.state = ?");
    find.bind(state);
    while (find.step()) {
      std::vector<RegressionId>& ids = all[find.next<SeriesId>()];
      ids.push_back(find.next<RegressionId>());
    }
  }
  for (auto& [series, ids] : all) std::sort(ids.begin(), ids.end());
  return all;
}

std::map<SeriesId, NightId> last_marked(const Database& db, const std::vector<Series>& series) {
  Statement find(db, MARK_SELECT);
  // A changed machine marks each series that it moved by its name, which is looked up. Matching
  // each mark with each series would take minutes.
  std::map<std::string, std::vector<Mark>> by_name;
  std::vector<Mark> globs;
  for (Mark& mark : read_all(find, read_mark)) {
    const bool is_glob = mark.workload.find_first_of("*?") != std::string::npos;
    std::vector<Mark>& marks = is_glob ? globs : by_name[mark.workload];
    marks.push_back(std::move(mark));
  }
  std::map<SeriesId, NightId> last;
  const auto apply = [&](const Series& one, const std::vector<Mark>& marks) {
    for (const Mark& mark : marks)
      if (concerns(mark, one)) last[one.id] = std::max(last[one.id], mark.after_night);
  };
  for (const Series& one : series) {
    apply(one, globs);
    const auto named = by_name.find(one.workload_name.str());
    if (named != by_name.end()) apply(one, named->second);
  }
  return last;
}

}  // namespace nightjar::storage
