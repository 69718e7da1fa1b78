#include "storage/own_sessions.hpp"

#include "storage/paging.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

std::vector<double> values_elsewhere(const Database& db, SeriesId series, BuildId build,
                                     JobId job) {
  Statement find(db,
                 "SELECT v.value FROM series_value v JOIN run ON run.id = v.run "
                 "JOIN session_check ON session_check.job = run.job "
                 "WHERE v.series = ? AND v.build = ? AND run.job <> ? AND session_check.usable = 1 "
                 "ORDER BY v.run");
  find.bind(series, build, job);
  return read_all(find, [](Statement& row) { return row.next<double>(); });
}

int void_nights_before(const Database& db, MachineId machine, NightId night, int most) {
  Statement find(db,
                 "SELECT max(session_check.usable) FROM session_check "
                 "JOIN job ON job.id = session_check.job "
                 "WHERE session_check.machine = ? AND job.night < ? "
                 "GROUP BY job.night ORDER BY job.night DESC LIMIT ?");
  find.bind(machine, night, most);
  int nights = 0;
  for (const bool usable : read_all(find, [](Statement& row) { return row.next<bool>(); })) {
    if (usable) break;
    ++nights;
  }
  return nights;
}

}  // namespace nightjar::storage
