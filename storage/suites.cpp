#include "storage/suites.hpp"

#include "storage/paging.hpp"

namespace nightjar::storage {
namespace {

#define SUITE_SELECT                                                                        \
  "SELECT suite_summary.id, suite_summary.night, night.build, suite_summary.at_us, "        \
  "suite_summary.machine, suite_summary.variant, suite_summary.suite, suite_summary.task, " \
  "suite_summary.device, suite_summary.precision, suite_summary.backend, "                  \
  "suite_summary.models, suite_summary.passed "                                             \
  "FROM suite_summary CROSS JOIN night ON night.id = suite_summary.night"

#define MEMBER_SELECT                                                                         \
  "SELECT suite_member.id, suite_member.summary, suite_member.workload, workload.name, "      \
  "workload.version, (SELECT series.id FROM series WHERE series.workload = workload.id "      \
  "AND series.metric = 'latency' AND series.machine = suite_summary.machine "                 \
  "AND series.variant = suite_summary.variant), suite_member.accuracy, suite_member.passed, " \
  "suite_member.latency, suite_member.speedup, suite_member.compile_time, "                   \
  "suite_member.cpu_compression, suite_member.gpu_compression "                               \
  "FROM suite_member JOIN workload ON workload.id = suite_member.workload "                   \
  "JOIN suite_summary ON suite_summary.id = suite_member.summary"

SuiteMean read_mean(Statement& row) {
  const auto measure = row.next<SuiteMeasure>();
  const auto value = row.next<double>();
  const int members = row.next<int>();
  SuiteMean mean{
      .measure = measure, .value = value, .members = members, .members_sha256 = row.next<Sha256>()};
  mean.level = row.next<double>();
  mean.verdict = row.next<SuiteVerdict>();
  const SuiteChange change{row.next<double>(), row.next<double>(), row.next<double>(),
                           row.next<int>()};
  if (change.members > 0) mean.change = change;
  mean.allowed = row.next<std::optional<double>>();
  mean.came = row.next<int>();
  mean.went = row.next<int>();
  mean.reason = row.next<std::string>();
  return mean;
}

SuiteSummary read_suite(const Database& db, Statement& row) {
  SuiteSummary suite{row.next<SuiteId>(),
                     row.next<NightId>(),
                     row.next<BuildId>(),
                     row.next<Time>(),
                     {row.next<MachineId>(), row.next<std::string>(), row.next<std::string>(),
                      row.next<std::string>(), row.next<std::string>(), row.next<std::string>(),
                      row.next<std::string>()},
                     row.next<int>(),
                     row.next<int>()};
  Statement means(db,
                  "SELECT measure, value, members, members_sha256, level, verdict, ratio, low, "
                  "high, compared, allowed, came, went, reason FROM suite_mean WHERE summary = ?");
  suite.means = read_all(means.bind(suite.id), read_mean);
  return suite;
}

SuiteMember read_member(Statement& row) {
  SuiteMember member{row.next<std::int64_t>(),
                     row.next<SuiteId>(),
                     row.next<WorkloadId>(),
                     row.next<std::string>(),
                     row.next<int>(),
                     row.next<SeriesId>(),
                     row.next<std::optional<Accuracy>>(),
                     row.next<bool>(),
                     row.next<std::optional<double>>()};
  for (const SuiteMeasure measure : all_of<SuiteMeasure>())
    if (const auto value = row.next<std::optional<double>>()) member.values[measure] = *value;
  return member;
}

std::optional<double> measure_of(const SuiteMember& member, SuiteMeasure measure) {
  const auto found = member.values.find(measure);
  return found == member.values.end() ? std::nullopt : std::optional(found->second);
}

void add_mean(Transaction& transaction, SuiteId suite, const SuiteMean& mean) {
  const auto of_change = [&](double SuiteChange::*member) {
    return mean.change ? std::optional((*mean.change).*member) : std::nullopt;
  };
  Statement(transaction,
            "INSERT INTO suite_mean (summary, measure, value, members, members_sha256, level, "
            "verdict, ratio, low, high, compared, allowed, came, went, reason) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(suite, mean.measure, mean.value, mean.members, mean.members_sha256, mean.level,
            mean.verdict, of_change(&SuiteChange::ratio), of_change(&SuiteChange::low),
            of_change(&SuiteChange::high), mean.change ? mean.change->members : 0, mean.allowed,
            mean.came, mean.went, mean.reason)
      .run();
}

void add_member(Transaction& transaction, SuiteId suite, const SuiteMember& member) {
  using enum SuiteMeasure;
  Statement(transaction,
            "INSERT INTO suite_member (summary, workload, accuracy, passed, latency, speedup, "
            "compile_time, cpu_compression, gpu_compression) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(suite, member.workload, member.accuracy, member.passed, member.latency,
            measure_of(member, speedup), measure_of(member, compile_time),
            measure_of(member, cpu_compression), measure_of(member, gpu_compression))
      .run();
}

// With the id that it has if the night is summed up again.
SuiteId put_summary(Transaction& transaction, const SuiteSummary& suite) {
  const SuiteKey& key = suite.key;
  Statement insert(transaction,
                   "INSERT INTO suite_summary (night, at_us, machine, variant, suite, task, "
                   "device, precision, backend, models, passed) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (night, machine, variant, "
                   "suite, task, device, precision, backend) DO UPDATE SET at_us = excluded.at_us, "
                   "models = excluded.models, passed = excluded.passed RETURNING id");
  insert.bind(suite.night, suite.at, key.machine, key.variant, key.suite, key.task, key.device,
              key.precision, key.backend, suite.models, suite.passed);
  return read_one(insert, [](Statement& row) { return row.next<SuiteId>(); }).value();
}

}  // namespace

std::vector<NightId> nights_to_sum_up(const Database& db, int limit) {
  Statement find(db,
                 "SELECT id FROM night INDEXED BY night_to_sum_up "
                 "WHERE state = 'done' AND summed_up = 0 "
                 "AND build IS NOT NULL ORDER BY started_at_us, id LIMIT ?");
  return read_all(find.bind(limit), [](Statement& row) { return row.next<NightId>(); });
}

// An imported session has no check.
#define COUNTED_RUNS                             \
  "FROM job JOIN night ON night.id = job.night " \
  "CROSS JOIN run ON run.job = job.id AND run.build = night.build "
#define OF_COUNTED_SESSIONS                                                       \
  "WHERE job.night = ? AND job.kind = 'screen' AND job.state = 'done' "           \
  "AND NOT EXISTS (SELECT 1 FROM session_check WHERE session_check.job = job.id " \
  "AND session_check.usable = 0) "

std::vector<SuiteRun> suite_runs(const Database& db, NightId night) {
  std::map<RunId, SuiteRun> runs;
  Statement find(db,
                 "SELECT run.id, job.machine, run.workload, workload.name, workload.version, "
                 "run.status, run.accuracy " COUNTED_RUNS
                 "CROSS JOIN workload ON workload.id = run.workload " OF_COUNTED_SESSIONS);
  find.bind(night);
  while (find.step()) {
    const auto id = find.next<RunId>();
    runs[id] = {find.next<MachineId>(),   find.next<WorkloadId>(),
                find.next<std::string>(), find.next<int>(),
                find.next<RunStatus>(),   find.next<std::optional<Accuracy>>()};
  }
  Statement values(
      db, "SELECT run.id, series.metric, series_value.value " COUNTED_RUNS
          "CROSS JOIN build ON build.id = run.build "
          "CROSS JOIN series ON series.workload = run.workload AND series.metric IN ('latency', "
          "'speedup', 'compile_time', 'peak_cpu_memory', 'peak_gpu_memory', 'compression_ratio') "
          "AND series.machine = job.machine AND series.variant = build.variant "
          "CROSS JOIN series_value ON series_value.series = series.id "
          "AND series_value.build = run.build AND series_value.run = run.id " OF_COUNTED_SESSIONS);
  values.bind(night);
  while (values.step()) {
    const auto run = runs.find(values.next<RunId>());
    auto metric = values.next<std::string>();
    if (run != runs.end()) run->second.values[std::move(metric)] = values.next<double>();
  }
  std::vector<SuiteRun> all;
  for (auto& [id, run] : runs) all.push_back(std::move(run));
  return all;
}

std::vector<SummedSuite> suites_before(const Database& db, const SuiteKey& key, Time at,
                                       NightId night, int limit) {
  Statement find(db, SUITE_SELECT
                 " WHERE suite_summary.machine = ? AND suite_summary.variant = ? "
                 "AND suite_summary.suite = ? AND suite_summary.task = ? "
                 "AND suite_summary.device = ? AND suite_summary.precision = ? "
                 "AND suite_summary.backend = ? "
                 "AND (suite_summary.at_us, suite_summary.night) < (?, ?) "
                 "ORDER BY suite_summary.at_us DESC, suite_summary.night DESC LIMIT ?");
  find.bind(key.machine, key.variant, key.suite, key.task, key.device, key.precision, key.backend,
            at, night, limit);
  std::vector<SummedSuite> suites;
  while (find.step()) {
    SummedSuite& suite = suites.emplace_back();
    suite.summary = read_suite(db, find);
    Statement members(db, MEMBER_SELECT " WHERE suite_member.summary = ?");
    suite.members = read_all(members.bind(suite.summary.id), read_member);
  }
  return suites;
}

void store_suites(Transaction& transaction, NightId night, const std::vector<SummedSuite>& suites) {
  for (const SummedSuite& suite : suites) {
    const SuiteId id = put_summary(transaction, suite.summary);
    for (const char* sql :
         {"DELETE FROM suite_mean WHERE summary = ?", "DELETE FROM suite_member WHERE summary = ?"})
      Statement(transaction, sql).bind(id).run();
    for (const SuiteMean& mean : suite.summary.means) add_mean(transaction, id, mean);
    for (const SuiteMember& member : suite.members) add_member(transaction, id, member);
  }
  Statement(transaction, "UPDATE night SET summed_up = 1 WHERE id = ?").bind(night).run();
}

void sum_up_again(Transaction& transaction, MachineId machine, Time since) {
  Statement(transaction,
            "UPDATE night SET summed_up = 0 WHERE summed_up = 1 AND id IN (SELECT night "
            "FROM imported_night WHERE machine = ? AND measured_at_us >= ?)")
      .bind(machine, since)
      .run();
}

Page<SuiteSummary> list_suites(const Database& db, const SuiteFilter& filter,
                               const PageRequest& page) {
  return Query(SUITE_SELECT, "suite_summary.id")
      .filter(db, filter)
      .page<SuiteSummary>(db, page, [&](Statement& row) { return read_suite(db, row); });
}

std::optional<SuiteSummary> find_suite(const Database& db, SuiteId id) {
  Statement find(db, SUITE_SELECT " WHERE suite_summary.id = ?");
  return read_one(find.bind(id), [&](Statement& row) { return read_suite(db, row); });
}

Page<SuiteMember> list_members(const Database& db, const MemberFilter& filter,
                               const PageRequest& page) {
  return Query(MEMBER_SELECT, "suite_member.id")
      .filter(db, filter)
      .page<SuiteMember>(db, page, read_member);
}

}  // namespace nightjar::storage
