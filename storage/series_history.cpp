#include "storage/series_history.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "storage/imports.hpp"
#include "storage/natural_order.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {
namespace {

// A series has many more runs than builds: builds and jobs are looked up once a point.
bool is_nightly(const Database& db, HistoryPoint& point) {
  Statement find(db,
                 "SELECT version, date, ifnull(lock, '') FROM build "
                 "WHERE id = ? AND kind = 'nightly'");
  if (!find.bind(point.build).step()) return false;
  point.version = find.next<std::string>();
  point.date = find.next<std::string>();
  point.lock = find.next<std::string>();
  return true;
}

void add_place(const Database& db, HistoryPoint& point, RunId run) {
  Statement find(db,
                 "SELECT job.id, job.runner, job.facts FROM run JOIN job ON job.id = run.job "
                 "WHERE run.id = ?");
  if (!find.bind(run).step()) return;
  point.job = find.next<JobId>();
  point.runner = find.next<RunnerId>();
  point.facts = find.next<FactsId>();
}

std::vector<HistoryPoint> points_of(const Database& db, SeriesId series) {
  Statement find(db,
                 "SELECT build, run, value FROM series_value WHERE series = ? "
                 "AND screened = 1 ORDER BY build, run");
  find.bind(series);
  std::vector<HistoryPoint> points;
  BuildId skipped;  // that is no nightly
  while (find.step()) {
    const auto build = find.next<BuildId>();
    const auto run = find.next<RunId>();
    if (build == skipped) continue;
    if (points.empty() || points.back().build != build) {
      HistoryPoint point;
      point.build = build;
      if (!is_nightly(db, point)) {
        skipped = build;
        continue;
      }
      add_place(db, point, run);
      points.push_back(std::move(point));
    }
    points.back().values.push_back(find.next<double>());
  }
  std::sort(points.begin(), points.end(), [](const HistoryPoint& a, const HistoryPoint& b) {
    if (a.date != b.date) return a.date < b.date;
    const int order = natural_compare(a.version, b.version);
    return std::tuple(order, a.build) < std::tuple(0, b.build);
  });
  return points;
}

void add_levels(const Database& db, SeriesId series, std::vector<HistoryPoint>& points) {
  Statement find(db,
                 "SELECT level.build, level.night, level.value FROM level JOIN night ON night.id = "
                 "level.night WHERE level.series = ? AND night.state <> 'cancelled'");
  find.bind(series);
  std::unordered_map<BuildId, std::pair<NightId, double>> levels;
  while (find.step()) {
    const auto build = find.next<BuildId>();
    const auto night = find.next<NightId>();
    levels[build] = {night, find.next<double>()};
  }
  for (HistoryPoint& point : points)
    if (const auto found = levels.find(point.build); found != levels.end())
      std::tie(point.level_night, point.level) = found->second;
}

NightWithout read_without(Statement& row) {
  return {row.next<NightId>(), row.next<BuildId>(), row.next<std::string>(),
          row.next<std::string>()};
}

std::vector<NightWithout> nights_without(const Database& db, const Series& series,
                                         const std::string& since) {
  // A night that was imported has one machine class, and says nothing of the others'. The reason: a
  // run of the workload that gave no value, else the job's end, else the night's own.
  Statement find(
      db,
      "SELECT night.id, build.id, coalesce(build.date, date(night.started_at_us / 1000000, "
      "'unixepoch')) AS day, coalesce("
      "(SELECT run.status || iif(run.reason = '', '', ': ' || run.reason) FROM job "
      " CROSS JOIN run ON run.job = job.id WHERE job.night = night.id AND job.kind = 'screen' "
      " AND job.machine = ?1 AND run.workload = ?2 AND run.status <> 'measured' LIMIT 1), "
      "(SELECT 'the job is ' || job.state || iif(job.reason = '', '', ': ' || job.reason) "
      " FROM job WHERE job.night = night.id AND job.kind = 'screen' AND job.machine = ?1 "
      " AND job.state <> 'done' LIMIT 1), "
      "iif(build.id IS NULL, nullif(night.reason, ''), NULL), "
      "iif(build.id IS NULL, 'there was no new build', "
      "'it was not measured on this machine class')) "
      "FROM night LEFT JOIN build ON build.id = night.build WHERE night.state = 'done' "
      "AND (build.id IS NULL OR (build.kind = 'nightly' AND build.variant = ?3)) AND day >= ?4 "
      "AND (?3 <> ?6 OR EXISTS (SELECT 1 FROM imported_night i "
      "WHERE i.night = night.id AND i.machine = ?1)) "
      "AND NOT EXISTS (SELECT 1 FROM series_value v WHERE v.series = ?5 "
      "AND v.build = build.id AND v.screened = 1) ORDER BY day, night.id");
  find.bind(series.machine, series.workload, series.variant, since, series.id, imported_variant);
  return read_all(find, read_without);
}

}  // namespace

SeriesHistory history_of_series(const Database& db, const Series& series) {
  SeriesHistory history{points_of(db, series.id), {}};
  if (history.points.empty()) return history;
  add_levels(db, series.id, history.points);
  history.without = nights_without(db, series, history.points.front().date);
  return history;
}

}  // namespace nightjar::storage
