// Rows of marks, and which series they concern. Private to this folder.
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

inline bool concerns(const Mark& mark, const Series& series) {
  return (!mark.machine || *mark.machine == series.machine) &&
         (mark.metric == "*" || mark.metric == series.metric) &&
         glob_match(mark.workload, series.workload_name.str());
}

}  // namespace nightjar::storage
