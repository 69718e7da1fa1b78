#include "storage/sessions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "storage/jobs.hpp"
#include "storage/model/json.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"
#include "storage/paging.hpp"
#include "storage/run_rows.hpp"
#include "storage/runners.hpp"

namespace nightjar::storage {
namespace {

using nlohmann::json;

// Finds or makes the series of a job's runs; each is looked up once.
class SeriesInterner {
 public:
  SeriesInterner(Transaction& transaction, MachineId machine)
      : transaction_(transaction), machine_(machine) {}

  SeriesId intern(WorkloadId workload, BuildId build, const Metric& metric) {
    const std::string& variant = variant_of(build);
    auto [found, added] = series_.try_emplace({workload, metric.name, variant});
    if (added) found->second = find_or_add(workload, metric.name, variant);
    return found->second;
  }

 private:
  const std::string& variant_of(BuildId build) {
    auto [found, added] = variants_.try_emplace(build);
    if (added) {
      Statement find(transaction_, "SELECT variant FROM build WHERE id = ?");
      if (!find.bind(build).step())
        throw std::invalid_argument("there is no build " + std::to_string(build.value));
      found->second = find.next<std::string>();
    }
    return found->second;
  }

  SeriesId find_or_add(WorkloadId workload, std::string_view metric, const std::string& variant) {
    Statement(transaction_,
              "INSERT INTO series (workload, metric, machine, variant) VALUES (?, ?, ?, ?) "
              "ON CONFLICT DO NOTHING")
        .bind(workload, metric, machine_, variant)
        .run();
    Statement find(transaction_,
                   "SELECT id FROM series WHERE workload = ? AND metric = ? AND machine = ? "
                   "AND variant = ?");
    find.bind(workload, metric, machine_, variant).step();
    return find.next<SeriesId>();
  }

  Transaction& transaction_;
  MachineId machine_;
  std::map<BuildId, std::string> variants_;
  std::map<std::tuple<WorkloadId, std::string_view, std::string>, SeriesId> series_;
};

class SessionWriter {
 public:
  SessionWriter(Transaction& transaction, const Job& job)
      : job_(job),
        interner_(transaction, job.machine),
        run_(transaction,
             "INSERT INTO run (job, position, build, workload, status, reason, checksum, "
             "warmup_iterations, started_at_us, seconds, expected_checksum, tolerance, accuracy) "
             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        times_(transaction,
               "INSERT INTO run_times (run, cpu_seconds, wait_seconds, slowdown) "
               "VALUES (?, ?, ?, ?)"),
        sample_(transaction, "INSERT INTO sample (run, metric, samples) VALUES (?, ?, ?)"),
        value_(transaction,
               "INSERT INTO series_value (series, build, run, screened, value, wait_share) "
               "VALUES (?, ?, ?, ?, ?, ?)"),
        profile_(transaction, "INSERT INTO profile (run, body) VALUES (?, ?)") {}

  void write(const RunResult& sent) {
    RunResult& run = judged_;
    run = sent;
    const PlannedRun planned = job_.spec.order.at(static_cast<std::size_t>(run.order));
    BuildId build;
    WorkloadId workload;
    if (!planned.is_control()) {
      build = job_.spec.environments[static_cast<std::size_t>(planned.environment)].build;
      const Workload& asked = job_.spec.workloads[static_cast<std::size_t>(planned.workload)];
      workload = asked.id;
      run.expected = asked.expected;
      run.accuracy = accuracy_of(run, asked.name);
    }
    std::optional<double> expected;
    if (run.expected) expected = run.expected->checksum;
    run_.bind(job_.id, run.order, build, workload, run.status, run.reason, run.checksum,
              run.warmup_iterations, run.started_at, run.seconds, expected,
              run.expected ? run.expected->tolerance : 0.0, run.accuracy)
        .run();
    const RunId id{run_.inserted_id()};
    if (!run.cpu_seconds.empty() || !run.wait_seconds.empty() || !run.slowdown.empty())
      times_.bind(id, run.cpu_seconds, run.wait_seconds, run.slowdown).run();
    for (const auto& [metric, samples] : run.samples) sample_.bind(id, metric, samples).run();
    // Under a profiler nothing is as fast as it is: whatever such a run says enters no series.
    const bool counts = !planned.is_control() && job_.spec.kind != JobKind::profile;
    if (counts) write_values(id, run, workload, build);
    if (run.profile)
      profile_.bind(id, json(*run.profile).dump(-1, ' ', false, json::error_handler_t::replace))
          .run();
  }

 private:
  void write_values(RunId id, const RunResult& run, WorkloadId workload, BuildId build) {
    const double wait_share = wait_share_of(run);
    // Another build of a screening is only measured again, to see what the machine's facts changed.
    const bool screened =
        job_.spec.kind == JobKind::screen && build == job_.spec.environments.front().build;
    for (const Metric& metric : all_metrics())
      if (const auto value = value_of(run, metric.name))
        value_
            .bind(interner_.intern(workload, build, metric), build, id, screened, *value,
                  wait_share)
            .run();
  }

  const Job& job_;
  SeriesInterner interner_;
  RunResult judged_;  // with what was expected of it; kept, since it allocates a lot
  Statement run_, times_, sample_, value_, profile_;
};

void require_sound(const Job& job, const SessionResult& result) {
  std::set<int> seen;
  for (const RunResult& run : result.runs)
    if (run.order < 0 || std::cmp_greater_equal(run.order, job.spec.order.size()) ||
        !seen.insert(run.order).second)
      throw std::invalid_argument("the result of job " + std::to_string(job.id.value) +
                                  " has run " + std::to_string(run.order) +
                                  ", which was not asked for or comes twice");
}

// The session without its runs, as the protocol writes it.
std::string frame_of(const SessionResult& result) {
  const SessionResult frame{
      {}, result.before, result.after, result.packages, result.setup_seconds, result.settings};
  return json(frame).dump(-1, ' ', false, json::error_handler_t::replace);
}

#define CHECKS                                                                     \
  "SELECT usable, reason, control, compute, bandwidth, launch FROM session_check " \
  "LEFT JOIN gpu_control ON gpu_control.job = session_check.job WHERE "

SessionCheck read_check(Statement& row) {
  SessionCheck check{row.next<bool>(), row.next<std::string>(), row.next<double>()};
  const auto compute = row.next<std::optional<double>>(),
             bandwidth = row.next<std::optional<double>>(),
             launch = row.next<std::optional<double>>();
  if (compute) check.gpu = {*compute, bandwidth.value(), launch.value()};
  return check;
}

}  // namespace

Accepted store_result(Transaction& transaction, JobId id, int attempt, const SessionResult& result,
                      Time now) {
  const auto job = find_job(transaction, id);
  if (!job) throw std::invalid_argument("there is no job " + std::to_string(id.value));
  if (job->state == JobState::done) return Accepted::already_stored;
  const bool open = job->state == JobState::leased || job->state == JobState::queued;
  if (!open || attempt != job->attempt || attempt == 0) return Accepted::stale;
  require_sound(*job, result);
  SessionWriter writer(transaction, *job);
  for (const RunResult& run : result.runs) writer.write(run);
  const std::string frame = frame_of(result);
  Statement(transaction, "INSERT INTO session (job, stored_at_us, frame) VALUES (?, ?, ?)")
      .bind(id, now, frame)
      .run();
  Statement(transaction,
            "UPDATE job SET state = 'done', lease_until_us = NULL, reason = '' WHERE id = ?")
      .bind(id)
      .run();
  if (job->spec.kind != JobKind::profile)
    Statement(transaction, "INSERT INTO unchecked_session (job) VALUES (?)").bind(id).run();
  if (job->runner) note_success(transaction, *job->runner);
  return Accepted::stored;
}

std::optional<Time> result_time(const Database& db, JobId id) {
  Statement find(db, "SELECT stored_at_us FROM session WHERE job = ?");
  return read_one(find.bind(id), [](Statement& row) { return row.next<Time>(); });
}

std::optional<SessionResult> session_of(const Database& db, JobId id) {
  Statement find(db, "SELECT frame FROM session WHERE job = ?");
  if (!find.bind(id).step()) return std::nullopt;
  auto session = json::parse(find.next<std::string>()).get<SessionResult>();
  Statement runs(db, "SELECT " RUN_COLUMNS " FROM run WHERE job = ? ORDER BY position");
  runs.bind(id);
  while (runs.step()) session.runs.push_back(read_run(db, runs).result);
  return session;
}

std::map<BuildId, Profile> profiles_of_job(const Database& db, JobId id) {
  std::map<BuildId, Profile> profiles;
  Statement find(db,
                 "SELECT run.build, profile.body FROM run JOIN profile ON profile.run = run.id "
                 "WHERE run.job = ? ORDER BY run.position");
  find.bind(id);
  while (find.step()) {
    const auto build = find.next<BuildId>();
    auto one = json::parse(find.next<std::string>()).get<Profile>();
    const auto [side, is_first] = profiles.try_emplace(build, one);
    if (!is_first) append(side->second, one);
  }
  return profiles;
}

std::optional<SessionCheck> find_check(const Database& db, JobId id) {
  Statement find(db, CHECKS "session_check.job = ?");
  return read_one(find.bind(id), read_check);
}

std::vector<ControlReading> readings_of(const Database& db, JobId id) {
  Statement find(db,
                 "SELECT gauge, within, moved, unrest FROM control_reading WHERE job = ? "
                 "ORDER BY gauge");
  return read_all(find.bind(id), [](Statement& row) {
    return ControlReading{row.next<Gauge>(), row.next<double>(), row.next<std::optional<double>>(),
                          row.next<std::optional<double>>()};
  });
}

void add_check(Transaction& transaction, const Job& job, const SessionCheck& check) {
  Statement(transaction,
            "INSERT INTO session_check (job, machine, usable, reason, control) "
            "VALUES (?, ?, ?, ?, ?)")
      .bind(job.id, job.machine, check.usable, check.reason, check.control)
      .run();
  if (check.gpu)
    Statement(transaction,
              "INSERT INTO gpu_control (job, compute, bandwidth, launch) VALUES (?, ?, ?, ?)")
        .bind(job.id, check.gpu->compute, check.gpu->bandwidth, check.gpu->launch)
        .run();
  for (const ControlReading& one : check.readings)
    Statement(transaction,
              "INSERT INTO control_reading (job, gauge, within, moved, unrest) "
              "VALUES (?, ?, ?, ?, ?)")
        .bind(job.id, one.gauge, one.within, one.moved, one.unrest)
        .run();
  Statement(transaction, "DELETE FROM unchecked_session WHERE job = ?").bind(job.id).run();
}

std::vector<JobId> unchecked_sessions(const Database& db) {
  Statement find(db, "SELECT job FROM unchecked_session ORDER BY job");
  return read_all(find, [](Statement& row) { return row.next<JobId>(); });
}

bool awaits_earlier_session(const Database& db, const Job& asked) {
  if (asked.spec.kind != JobKind::screen && asked.spec.kind != JobKind::confirm) return false;
  Statement find(
      db,
      "SELECT EXISTS (SELECT 1 FROM job AS earlier WHERE earlier.night = ? AND +earlier.kind = ? "
      "AND earlier.machine = ? AND coalesce(earlier.repeats, earlier.id) < ? "
      "AND (earlier.state IN ('queued', 'leased') "
      "OR earlier.id IN (SELECT job FROM unchecked_session)) "
      "AND (earlier.kind = 'screen' OR EXISTS (SELECT 1 FROM confirmation_job AS other "
      "WHERE other.job = coalesce(earlier.repeats, earlier.id) "
      "AND (other.workload, other.good, other.bad) = "
      "(SELECT workload, good, bad FROM confirmation_job WHERE job = ?))))");
  find.bind(asked.night, asked.spec.kind, asked.machine, asked.id, asked.id);
  return read_one(find, [](Statement& row) { return row.next<bool>(); }).value();
}

std::vector<SessionCheck> last_checks(const Database& db, MachineId machine, FactsId facts,
                                      std::size_t count) {
  Statement find(db, CHECKS
                 "machine = ? "
                 "AND (SELECT facts FROM job WHERE job.id = session_check.job) IS ? "
                 "ORDER BY session_check.id DESC LIMIT ?");
  auto checks = read_all(find.bind(machine, facts, static_cast<std::int64_t>(count)), read_check);
  std::reverse(checks.begin(), checks.end());
  return checks;
}

std::vector<EarlierControl> controls_before(const Database& db, JobId id, int nights) {
  Statement find(
      db,
      "WITH asked AS MATERIALIZED (SELECT machine, facts, variant, night FROM job WHERE id = ?1), "
      "last AS MATERIALIZED (SELECT DISTINCT job.night FROM asked JOIN job "
      "ON job.machine = asked.machine AND job.facts IS asked.facts "
      "AND job.variant IS asked.variant AND job.night < asked.night "
      "WHERE job.kind = 'screen' ORDER BY job.night DESC LIMIT ?2) "
      "SELECT job.night, reading.gauge, iif(reading.gauge = 'cpu', said.control, "
      "iif(reading.gauge = 'gpu_compute', gpu.compute, gpu.bandwidth)), reading.within "
      "FROM asked CROSS JOIN last CROSS JOIN job ON job.machine = asked.machine "
      "AND job.facts IS asked.facts AND job.variant IS asked.variant AND job.night = last.night "
      "JOIN session_check AS said ON said.job = job.id "
      "JOIN control_reading AS reading ON reading.job = job.id "
      "LEFT JOIN gpu_control AS gpu ON gpu.job = job.id "
      "WHERE job.kind = 'screen' AND said.control > 0");
  return read_all(find.bind(id, nights), [](Statement& row) {
    return EarlierControl{row.next<NightId>(), row.next<Gauge>(), row.next<double>(),
                          row.next<double>()};
  });
}

}  // namespace nightjar::storage
