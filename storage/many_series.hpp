// What a night measured, and what is known of many series, each read at once. Asking for one series
// after the other took minutes where a night measures fifty thousand.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/job.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"
#include "storage/series.hpp"

namespace nightjar::storage {

// Series with runs in the night's jobs of `kind`, by id, of one metric or of all. The runs of each
// come in order of job and order.
struct MeasuredSeries {
  Series series;
  std::vector<SeriesRun> runs;
};
std::vector<MeasuredSeries> series_measured_in(const Database& db, NightId night, JobKind kind,
                                               const std::optional<std::string>& metric = {});
RunId newest_run(const Database& db);  // 0: none is stored
// Whether runs that were stored after `last` belong to one of these nights. If not, what the nights
// measured is as it was.
bool measured_since(const Database& db, RunId last, const std::set<NightId>& nights);
// One series' runs of one build in the night's jobs of `kind`, in the same order.
std::vector<SeriesRun> runs_of_build(const Database& db, SeriesId series, BuildId build,
                                     NightId night, JobKind kind);

// The functions below leave out series for which they have no result.

// The values of each series' points (see series.hpp): at most `limit` newest builds, in no order.
using ValuesOfBuilds = std::vector<std::vector<double>>;
std::map<SeriesId, ValuesOfBuilds> newest_values(const Database& db,
                                                 const std::vector<SeriesId>& series, int limit);
// Newest first, at most `limit` each, of nights before `before`.
std::map<SeriesId, std::vector<Level>> newest_levels(const Database& db,
                                                     const std::vector<SeriesId>& series,
                                                     NightId before, int limit);
// The builds whose nights measured a machine class and are done, in the order of points_of_series()
// from the newest on. Releases that were imported are among them.
struct MeasuredBuild {
  BuildId id;
  std::string version, date;
};
std::vector<MeasuredBuild> builds_measured_on(const Database& db, MachineId machine);
// Each series' points of these builds, in their order.
std::map<SeriesId, std::vector<SeriesPoint>> points_of_builds(
    const Database& db, const std::vector<SeriesId>& series,
    const std::vector<MeasuredBuild>& builds);
// What the newest of a workload's runs of a build on a machine class that was not measured came to.
struct Ending {
  RunStatus status = RunStatus::failed;
  std::string reason;
};
std::optional<Ending> newest_failure(const Database& db, WorkloadId workload, BuildId build,
                                     MachineId machine);
// The improvements that nights before `before` showed.
struct BetterSince {
  NightId shown;  // in
  NightId night;  // of the newest level since which it is better
};
std::map<SeriesId, std::vector<BetterSince>> better_since(const Database& db,
                                                          const std::vector<SeriesId>& series,
                                                          NightId before);
// The newest night before `before` of each series' regressions that are now in one of `states`.
std::map<SeriesId, NightId> last_regressions(const Database& db,
                                             const std::vector<RegressionState>& states,
                                             NightId before);
// Returns the regressions in one of `states` that show each series, by id.
std::map<SeriesId, std::vector<RegressionId>> regressions_by_series(
    const Database& db, const std::vector<RegressionState>& states);
// The newest night whose level no longer counts, by the marks that people and nights made.
std::map<SeriesId, NightId> last_marked(const Database& db, const std::vector<Series>& series);

}  // namespace nightjar::storage
