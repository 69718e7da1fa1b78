// Rows of marks and of improvements, and which series a mark concerns. Private to this folder.
#pragma once

#include "storage/marks.hpp"
#include "storage/model/workload.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

#define MARK_SELECT \
  "SELECT id, at_us, actor, after_night, machine, workload, metric, reason FROM mark"

inline Mark read_mark(Statement& row) {
  return {row.next<std::int64_t>(),
          row.next<Time>(),
          row.next<std::string>(),
          row.next<NightId>(),
          row.next<std::optional<MachineId>>(),
          row.next<std::string>(),
          row.next<std::string>(),
          row.next<std::string>()};
}

#define IMPROVEMENT_COLUMNS "id, night, series, build, before, after, at_us"
#define IMPROVEMENT_SELECT "SELECT " IMPROVEMENT_COLUMNS " FROM improvement"

inline Improvement read_improvement(Statement& row) {
  return {row.next<std::int64_t>(), row.next<NightId>(), row.next<SeriesId>(), row.next<BuildId>(),
          row.next<double>(),       row.next<double>(),  row.next<Time>()};
}

inline bool concerns(const Mark& mark, const Series& series) {
  return (!mark.machine || *mark.machine == series.machine) &&
         (mark.metric == "*" || mark.metric == series.metric) &&
         glob_match(mark.workload, series.workload_name.str());
}

}  // namespace nightjar::storage
