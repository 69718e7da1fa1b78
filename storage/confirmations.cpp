#include "storage/confirmations.hpp"

#include "storage/jobs.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {

void add_confirmation_job(Transaction& transaction, JobId job, const Comparison& comparison) {
  Statement(transaction,
            "INSERT INTO confirmation_job (job, workload, good, bad, round) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .bind(job, comparison.workload, comparison.good, comparison.bad, comparison.round)
      .run();
}

std::vector<Job> jobs_of_comparison(const Database& db, const Comparison& comparison) {
  Statement find(db,
                 "SELECT job.id FROM job CROSS JOIN confirmation_job AS asked "
                 "ON asked.job = job.id WHERE job.night = ? AND job.kind = 'confirm' "
                 "AND job.machine = ? AND asked.workload = ? AND asked.good = ? "
                 "AND asked.bad = ? AND asked.round = ? ORDER BY job.id");
  find.bind(comparison.night, comparison.machine, comparison.workload, comparison.good,
            comparison.bad, comparison.round);
  return read_all(find, [&](Statement& row) { return *find_job(db, row.next<JobId>()); });
}

}  // namespace nightjar::storage
