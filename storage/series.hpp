// Series, their runs and accepted levels. A run's value in a series is the median of its
// iterations; see model/run_value.hpp for those of latency that count. All raw samples stay
// readable by find_run, so a value can be judged again.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/job.hpp"
#include "storage/model/series.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

std::optional<Series> find_series(Database& db, SeriesId id);
std::optional<Series> find_series(Database& db, WorkloadId workload, std::string_view metric,
                                  MachineId machine, std::string_view variant);
struct SeriesFilter {
  std::optional<std::string> metric;
  std::optional<std::string> workload_glob;
  std::optional<MachineId> machine;
};
Page<Series> list_series(Database& db, const SeriesFilter& filter, const PageRequest& page);
// Series with a run in this night's screen jobs.
std::vector<Series> series_of_night(Database& db, NightId night);
// The series' runs in jobs of `kind` in `night`, in order of job and order.
std::vector<SeriesRun> runs_of_series(Database& db, SeriesId series, NightId night, JobKind kind);
// The runs of one series in one job.
std::vector<SeriesRun> runs_of_job(Database& db, SeriesId series, JobId job);
// One point a build (nightlies only), oldest first by date and version, at most `limit` newest:
// values of screen runs.
struct SeriesPoint {
  BuildId build;
  std::string version;
  std::string date;
  std::vector<double> values;
};
std::vector<SeriesPoint> points_of_series(Database& db, SeriesId series, int limit);
// A run with all raw samples, for REST and evidence.
struct StoredRun {
  RunId id;
  JobId job;
  NightId night;
  BuildId build;        // 0: control
  WorkloadId workload;  // 0: control
  RunResult result;
};
std::optional<StoredRun> find_run(Database& db, RunId id);
struct RunFilter {
  std::optional<JobId> job;
  std::optional<BuildId> build;
  std::optional<WorkloadId> workload;
};
Page<StoredRun> list_runs(Database& db, const RunFilter& filter, const PageRequest& page);

void set_level(Database& db, const Level& level);  // replaces the one of the same series and build
// Newest first, at most `limit`, of nights before `before`.
std::vector<Level> levels_before(Database& db, SeriesId series, NightId before, int limit);

}  // namespace nightjar::storage
