#include "storage/pools.hpp"

#include "storage/paging.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

std::vector<RunnerId> job_holders(const Database& db) {
  Statement find(db, "SELECT runner FROM job WHERE state = 'leased' AND runner IS NOT NULL");
  return read_all(find, [](Statement& row) { return row.next<RunnerId>(); });
}

int due_builds(const Database& db, Time now) {
  Statement count(db,
                  "SELECT count(*) FROM job JOIN source_build AS asked ON asked.job = job.id "
                  "WHERE job.state = 'queued' AND job.kind = 'build' "
                  "AND asked.not_before_us <= ?");
  return read_one(count.bind(now), [](Statement& row) { return row.next<int>(); }).value_or(0);
}

std::vector<MachineId> planned_classes(const Database& db, NightId night) {
  Statement find(db,
                 "SELECT DISTINCT machine FROM job WHERE night = ? AND kind = 'screen' "
                 "ORDER BY machine");
  return read_all(find.bind(night), [](Statement& row) { return row.next<MachineId>(); });
}

void dismiss_runner(Transaction& transaction, RunnerId id) {
  Statement(transaction, "UPDATE runner SET instance = '', has_left = 1 WHERE id = ?")
      .bind(id)
      .run();
  Statement(transaction,
            "UPDATE job SET affinity = NULL, unclaimable_since_us = NULL "
            "WHERE state = 'queued' AND affinity = ?")
      .bind(id)
      .run();
}

}  // namespace nightjar::storage
