// Rows of series, of their runs and of their levels. Private to this folder.
#pragma once

#include "storage/model/series.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

#define SERIES_COLUMNS                                                           \
  "series.id, series.workload, workload.name, workload.version, series.metric, " \
  "series.machine, series.variant"

inline Series read_series(Statement& row) {
  const auto id = row.next<SeriesId>();
  const auto workload = row.next<WorkloadId>();
  auto name = WorkloadName::parse(row.next<std::string>());
  if (!name) throw Error("workload " + std::to_string(workload.value) + " has no well-formed name");
  return {id,
          workload,
          *std::move(name),
          row.next<int>(),
          row.next<std::string>(),
          row.next<MachineId>(),
          row.next<std::string>()};
}

#define SERIES_RUN_COLUMNS \
  "run.id, run.build, job.night, job.id, run.position, v.value, v.wait_share"

inline SeriesRun read_series_run(Statement& row) {
  return {row.next<RunId>(), row.next<BuildId>(), row.next<NightId>(), row.next<JobId>(),
          row.next<int>(),   row.next<double>(),  row.next<double>()};
}

#define LEVEL_COLUMNS "level.series, level.build, level.night, level.value, level.runs"
// A cancelled night leaves no level.
#define IS_LEVEL_BEFORE(night)                                              \
  night " < ? AND NOT EXISTS (SELECT 1 FROM night AS n WHERE n.id = " night \
        " AND n.state = 'cancelled') "

inline Level read_level(Statement& row) {
  return {row.next<SeriesId>(), row.next<BuildId>(), row.next<NightId>(), row.next<double>(),
          row.next<int>()};
}

}  // namespace nightjar::storage
