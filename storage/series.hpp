// Series, their runs and accepted levels. A run's value in a series is the median of its
// iterations; see model/run_value.hpp for those of latency that count. All raw samples stay
// readable (storage/runs.hpp), so a value can be judged again.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/domain.hpp"
#include "storage/model/job.hpp"
#include "storage/model/series.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

std::optional<Series> find_series(const Database& db, SeriesId id);
std::optional<Series> find_series(const Database& db, WorkloadId workload, std::string_view metric,
                                  MachineId machine, std::string_view variant);
struct SeriesFilter {
  std::optional<std::string> metric = {};
  WorkloadFilter workload = {};
  std::optional<MachineId> machine = {};
  std::optional<std::string> variant = {};
  template <class Where>
  void conditions(Where where) const {
    where("series.metric = ?", metric);
    where(IS_AMONG("series.workload"), workload);
    where("series.machine = ?", machine);
    where("series.variant = ?", variant);
  }
};
Page<Series> list_series(const Database& db, const SeriesFilter& filter, const PageRequest& page);
// Series with a run in this night's screen jobs.
std::vector<Series> series_of_night(const Database& db, NightId night);
// The series' runs in jobs of `kind` in `night`, in order of job and order.
std::vector<SeriesRun> runs_of_series(const Database& db, SeriesId series, NightId night,
                                      JobKind kind);
// The runs of one series in one job.
std::vector<SeriesRun> runs_of_job(const Database& db, SeriesId series, JobId job);
// One point a build (nightlies only), oldest first by date and version, at most `limit` newest:
// values of screen runs.
struct SeriesPoint {
  BuildId build;
  std::string version;
  std::string date;
  std::vector<double> values;
};
std::vector<SeriesPoint> points_of_series(const Database& db, SeriesId series, int limit);

void set_level(Transaction& transaction,
               const Level& level);  // replaces the one of the same series and build
void clear_levels(Transaction& transaction, SeriesId series);
// Newest first, at most `limit`, of nights before `before`.
std::vector<Level> levels_before(const Database& db, SeriesId series, NightId before, int limit);
// The newest one of nights after `after` and before `before` that is at most `most`.
std::optional<Level> last_level_up_to(const Database& db, SeriesId series, double most,
                                      NightId after, NightId before);

}  // namespace nightjar::storage
