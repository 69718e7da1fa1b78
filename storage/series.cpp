#include "storage/series.hpp"

#include <algorithm>
#include <limits>

#include "storage/paging.hpp"
#include "storage/series_history.hpp"
#include "storage/series_rows.hpp"

namespace nightjar::storage {
namespace {

#define SERIES_SELECT \
  "SELECT " SERIES_COLUMNS " FROM series JOIN workload ON workload.id = series.workload"

// A job's runs lie together, and build and run lead to the value in the clustered series.
#define SERIES_RUN_SELECT                         \
  "SELECT " SERIES_RUN_COLUMNS                    \
  " FROM job CROSS JOIN run ON run.job = job.id " \
  "CROSS JOIN series_value v ON v.series = ? AND v.build = run.build AND v.run = run.id "

#define LEVELS_BEFORE \
  "SELECT " LEVEL_COLUMNS " FROM level WHERE series = ? AND " IS_LEVEL_BEFORE("level.night")

}  // namespace

std::optional<Series> find_series(const Database& db, SeriesId id) {
  Statement find(db, SERIES_SELECT " WHERE series.id = ?");
  return read_one(find.bind(id), read_series);
}

std::optional<Series> find_series(const Database& db, WorkloadId workload, std::string_view metric,
                                  MachineId machine, std::string_view variant) {
  Statement find(db, SERIES_SELECT
                 " WHERE series.workload = ? AND series.metric = ? "
                 "AND series.machine = ? AND series.variant = ?");
  return read_one(find.bind(workload, metric, machine, variant), read_series);
}

Page<Series> list_series(const Database& db, const SeriesFilter& filter, const PageRequest& page) {
  return Query(SERIES_SELECT, "series.id").filter(db, filter).page<Series>(db, page, read_series);
}

std::vector<Series> series_of_night(const Database& db, NightId night) {
  Statement find(db, SERIES_SELECT
                 " WHERE series.id IN (SELECT s.id FROM job "
                 "CROSS JOIN run ON run.job = job.id CROSS JOIN build ON build.id = run.build "
                 "CROSS JOIN series s ON s.workload = run.workload AND s.machine = job.machine "
                 "AND s.variant = build.variant "
                 "CROSS JOIN series_value v ON v.series = s.id AND v.build = run.build "
                 "AND v.run = run.id WHERE job.night = ? AND job.kind = 'screen') "
                 "ORDER BY series.id");
  return read_all(find.bind(night), read_series);
}

std::vector<SeriesRun> runs_of_series(const Database& db, SeriesId series, NightId night,
                                      JobKind kind) {
  Statement find(db, SERIES_RUN_SELECT "WHERE job.night = ? AND job.kind = " + literal(kind) +
                         " ORDER BY job.id, run.position");
  return read_all(find.bind(series, night), read_series_run);
}

std::vector<SeriesRun> runs_of_job(const Database& db, SeriesId series, JobId job) {
  Statement find(db, SERIES_RUN_SELECT "WHERE job.id = ? ORDER BY run.position");
  return read_all(find.bind(series, job), read_series_run);
}

std::vector<SeriesPoint> points_of_series(const Database& db, SeriesId series, int limit) {
  return points_between(db, series, {1}, {std::numeric_limits<std::int64_t>::max()}, limit);
}

std::vector<SeriesPoint> points_between(const Database& db, SeriesId series, BuildId first,
                                        BuildId last, int limit) {
  Statement find(db,
                 "WITH newest AS (SELECT id, version, date FROM build WHERE kind = 'nightly' "
                 "AND id IN (SELECT build FROM series_value WHERE series = ?1 AND screened = 1 "
                 "AND build BETWEEN ?3 AND ?4) "
                 "ORDER BY date DESC, version COLLATE by_number DESC, id DESC LIMIT ?2) "
                 "SELECT newest.id, newest.version, newest.date, v.value FROM newest "
                 "CROSS JOIN series_value v ON v.series = ?1 AND v.build = newest.id "
                 "AND v.screened = 1 ORDER BY newest.date, newest.version COLLATE by_number, "
                 "newest.id, v.run");
  find.bind(series, limit, first, last);
  std::vector<SeriesPoint> points;
  while (find.step()) {
    const auto build = find.next<BuildId>();
    if (points.empty() || points.back().build != build) {
      auto version = find.next<std::string>();
      points.push_back({build, std::move(version), find.next<std::string>(), {}});
    } else {
      find.skip(2);
    }
    points.back().values.push_back(find.next<double>());
  }
  return points;
}

void set_level(Transaction& transaction, const Level& level) {
  Statement(transaction,
            "INSERT INTO level (series, build, night, value, runs) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (series, build) DO UPDATE SET night = excluded.night, "
            "value = excluded.value, runs = excluded.runs")
      .bind(level.series, level.build, level.night, level.value, level.runs)
      .run();
}

void clear_levels(Transaction& transaction, SeriesId series) {
  Statement(transaction, "DELETE FROM level WHERE series = ?").bind(series).run();
}

std::vector<Level> levels_before(const Database& db, SeriesId series, NightId before, int limit) {
  Statement find(db, LEVELS_BEFORE "ORDER BY night DESC, build DESC LIMIT ?");
  return read_all(find.bind(series, before, limit), read_level);
}

std::optional<Level> last_level_up_to(const Database& db, SeriesId series, double most,
                                      NightId after, NightId before) {
  Statement find(db, LEVELS_BEFORE
                 "AND night > ifnull(?, 0) AND value <= ? "
                 "ORDER BY night DESC, build DESC LIMIT 1");
  return read_one(find.bind(series, before, after, most), read_level);
}

}  // namespace nightjar::storage
