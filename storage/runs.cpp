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
  const auto checksum = row.next<std::optional<double>>();
  const auto tolerance = row.next<double>();
  if (checksum) run.result.expected = {*checksum, tolerance};
  run.result.accuracy = row.next<std::optional<Accuracy>>();
  return run;
}

std::optional<StoredRun> find_run(const Database& db, RunId id) {
  Statement find(db, "SELECT " RUN_COLUMNS " FROM run WHERE run.id = ?");
  return read_one(find.bind(id), [&](Statement& row) { return read_run(db, row); });
}

std::vector<double> checksums_of(const Database& db, NightId night, MachineId machine,
                                 WorkloadId workload, BuildId build) {
  Statement find(db,
                 "SELECT run.checksum FROM job CROSS JOIN run ON run.job = job.id "
                 "WHERE job.night = ? AND job.kind = 'screen' AND job.machine = ? "
                 "AND run.workload = ? AND run.build = ? AND run.status = 'measured' "
                 "AND run.checksum IS NOT NULL ORDER BY run.id");
  return read_all(find.bind(night, machine, workload, build),
                  [](Statement& row) { return row.next<double>(); });
}

std::map<std::string, double> values_of_run(const Database& db, RunId id) {
  Statement find(db,
                 "SELECT series.metric, v.value FROM run CROSS JOIN job ON job.id = run.job "
                 "CROSS JOIN series ON series.workload = run.workload "
                 "AND series.machine = job.machine "
                 "CROSS JOIN series_value v ON v.series = series.id AND v.build = run.build "
                 "AND v.run = run.id WHERE run.id = ?");
  find.bind(id);
  std::map<std::string, double> values;
  while (find.step()) {
    auto metric = find.next<std::string>();
    values[std::move(metric)] = find.next<double>();
  }
  return values;
}

std::optional<std::string> why_all_ended(const Database& db, NightId night, RunStatus as) {
  // Asked with every tick: of most nights the first run already says no.
  Statement find(db,
                 "SELECT run.reason FROM job CROSS JOIN run ON run.job = job.id "
                 "WHERE NOT EXISTS (SELECT 1 FROM job CROSS JOIN run ON run.job = job.id "
                 "  WHERE job.night = ?1 AND job.kind = 'screen' AND run.workload IS NOT NULL "
                 "  AND run.status <> ?2) "
                 "AND job.night = ?1 AND job.kind = 'screen' AND run.workload IS NOT NULL "
                 "ORDER BY run.id LIMIT 1");
  return read_one(find.bind(night, as), [](Statement& row) { return row.next<std::string>(); });
}

Page<StoredRun> list_runs(const Database& db, const RunFilter& filter, const PageRequest& page) {
  return Query("SELECT " RUN_COLUMNS " FROM run", "run.id")
      .filter(db, filter)
      .page<StoredRun>(db, page, [&](Statement& row) { return read_run(db, row); });
}

}  // namespace nightjar::storage
