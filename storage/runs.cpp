#include "storage/runs.hpp"

#include "storage/paging.hpp"
#include "storage/run_rows.hpp"

namespace nightjar::storage {
namespace {

std::map<std::string, std::vector<double>> samples_of(const Database& db, RunId run) {
  std::map<std::string, std::vector<double>> samples;
  Statement find(db, "SELECT metric, samples FROM sample WHERE run = ?");
  find.bind(run);
  while (find.step()) {
    auto metric = find.next<std::string>();
    samples.emplace(std::move(metric), find.next<std::vector<double>>());
  }
  return samples;
}

}  // namespace

StoredRun read_run(const Database& db, Statement& row) {
  StoredRun run{row.next<RunId>(),   row.next<JobId>(),      row.next<NightId>(),
                row.next<BuildId>(), row.next<WorkloadId>(), {}};
  run.result = {row.next<int>(),
                row.next<RunStatus>(),
                row.next<std::string>(),
                samples_of(db, run.id),
                row.next<std::vector<double>>(),
                row.next<std::vector<double>>(),
                row.next<std::vector<double>>(),
                row.next<std::optional<double>>(),
                row.next<int>(),
                row.next<Time>(),
                row.next<double>(),
                std::nullopt};
  return run;
}

std::optional<StoredRun> find_run(const Database& db, RunId id) {
  Statement find(db, "SELECT " RUN_COLUMNS " FROM run WHERE run.id = ?");
  return read_one(find.bind(id), [&](Statement& row) { return read_run(db, row); });
}

Page<StoredRun> list_runs(const Database& db, const RunFilter& filter, const PageRequest& page) {
  return Query("SELECT " RUN_COLUMNS " FROM run", "run.id")
      .where("run.job = ?", filter.job)
      .where("run.build = ?", filter.build)
      .where("run.workload = ?", filter.workload)
      .page<StoredRun>(db, page, [&](Statement& row) { return read_run(db, row); });
}

}  // namespace nightjar::storage
