#include "storage/jobs.hpp"

#include "storage/filtered.hpp"
#include "storage/model/json.hpp"
#include "storage/paging.hpp"
#include "storage/runners.hpp"
#include "storage/source_builds.hpp"
#include "storage/text_map.hpp"

namespace nightjar::storage {
namespace {

constexpr int lost_attempts = 3;
constexpr int most_put_off = 6;
constexpr int most_returns =
    8;  // attempts after which a restarted runner gets its job back no more

#define JOB_COLUMNS                                                                             \
  "id, key, night, machine, spec, state, priority, attempt, runner, affinity, lease_until_us, " \
  "reason, created_at_us, repeats, nonce"

Job read_job(Statement& row) {
  return {row.next<JobId>(),
          row.next<std::string>(),
          row.next<NightId>(),
          row.next<MachineId>(),
          nlohmann::json::parse(row.next<std::string>()).get<JobSpec>(),
          row.next<JobState>(),
          row.next<int>(),
          row.next<int>(),
          row.next<std::optional<RunnerId>>(),
          row.next<std::optional<RunnerId>>(),
          row.next<std::optional<Time>>(),
          row.next<std::string>(),
          row.next<Time>(),
          row.next<std::optional<JobId>>(),
          row.next<std::string>()};
}

// All builds of a session are of one variant.
std::optional<BuildId> first_build(const JobSpec& spec) {
  return spec.environments.empty() ? std::nullopt : std::optional(spec.environments.front().build);
}

void require_workloads(Transaction& transaction, JobId job, const JobSpec& spec) {
  Statement insert(transaction,
                   "INSERT INTO job_workload (job, workload) VALUES (?, ?) "
                   "ON CONFLICT DO NOTHING");
  for (const Workload& workload : spec.workloads) {
    const std::string name = workload.name.str() + "@" + std::to_string(workload.version);
    insert.bind(job, name).run();
  }
}

}  // namespace

Job add_job(Transaction& transaction, const Job& job) {
  const std::string spec = nlohmann::json(job.spec).dump();
  Statement insert(transaction,
                   "INSERT INTO job (key, night, machine, kind, spec, state, priority, attempt, "
                   "affinity, reason, created_at_us, repeats, variant) "
                   "VALUES (?, ?, ?, ?, ?, 'queued', ?, 0, ?, '', ?, ?, "
                   "(SELECT variant FROM build WHERE id = ?)) ON CONFLICT DO NOTHING");
  insert
      .bind(job.key, job.night, job.machine, job.spec.kind, spec, job.priority, job.affinity,
            job.created_at, job.repeats, first_build(job.spec))
      .run();
  if (insert.changes() == 1) require_workloads(transaction, JobId{insert.inserted_id()}, job.spec);
  auto stored = find_job(transaction, job.key);
  return *std::move(stored);
}

std::optional<Job> find_job(const Database& db, JobId id) {
  Statement find(db, "SELECT " JOB_COLUMNS " FROM job WHERE id = ?");
  return read_one(find.bind(id), read_job);
}

std::optional<JobId> last_job_with_key(const Database& db, std::string_view start) {
  const std::string end = std::string(start) + ':';  // is behind all digits
  Statement find(db, "SELECT max(id) FROM job WHERE key > ? AND key < ?");
  find.bind(start, end);
  return read_one(find, [](Statement& row) { return row.next<std::optional<JobId>>(); })
      .value_or(std::nullopt);
}

std::optional<Job> find_job(const Database& db, std::string_view key) {
  Statement find(db, "SELECT " JOB_COLUMNS " FROM job WHERE key = ?");
  return read_one(find.bind(key), read_job);
}

JobClaim claim_of(const Job& job) {
  return {job.spec.kind, job.state, job.attempt, job.runner, job.nonce};
}

std::optional<JobClaim> find_claim(const Database& db, JobId id) {
  Statement find(db, "SELECT kind, state, attempt, runner, nonce FROM job WHERE id = ?");
  return read_one(find.bind(id), [](Statement& row) {
    return JobClaim{row.next<JobKind>(), row.next<JobState>(), row.next<int>(),
                    row.next<std::optional<RunnerId>>(), row.next<std::string>()};
  });
}

std::vector<Job> jobs_of_night(const Database& db, NightId night, JobKind kind) {
  Statement find(db, "SELECT " JOB_COLUMNS " FROM job WHERE night = ? AND kind = " + literal(kind) +
                         " AND repeats IS NULL ORDER BY id");
  return read_all(find.bind(night), read_job);
}

bool has_open_screening(const Database& db, NightId night) {
  Statement find(db,
                 "SELECT EXISTS (SELECT 1 FROM job WHERE night = ? AND kind = 'screen' "
                 "AND repeats IS NULL AND state IN ('queued', 'leased'))");
  return read_one(find.bind(night), [](Statement& row) { return row.next<bool>(); }).value();
}

std::vector<Job> repeats_of(const Database& db, JobId asked) {
  Statement find(db, "SELECT " JOB_COLUMNS " FROM job WHERE repeats = ? ORDER BY id");
  return read_all(find.bind(asked), read_job);
}

std::set<FactsId> facts_of_sessions(const Database& db, NightId night, MachineId machine) {
  Statement find(db,
                 "SELECT DISTINCT facts FROM job WHERE night = ? AND kind = 'screen' "
                 "AND machine = ? AND state = 'done' AND facts IS NOT NULL");
  const auto facts =
      read_all(find.bind(night, machine), [](Statement& row) { return row.next<FactsId>(); });
  return {facts.begin(), facts.end()};
}

FactsId facts_of_job(const Database& db, JobId id) {
  Statement find(db, "SELECT facts FROM job WHERE id = ?");
  return read_one(find.bind(id), [](Statement& row) { return row.next<FactsId>(); })
      .value_or(FactsId{});
}

Page<Job> list_jobs(const Database& db, const JobFilter& filter, const PageRequest& page) {
  auto listed = listed_jobs(db, filter, page);
  return {{listed.items.begin(), listed.items.end()}, listed.next};
}

namespace {

ListedJob read_listed_job(Statement& row) {
  ListedJob job{read_job(row)};
  job.variant = row.next<std::optional<std::string>>();
  return job;
}

}  // namespace

Page<ListedJob> listed_jobs(const Database& db, const JobFilter& filter, const PageRequest& page) {
  return Query("SELECT " JOB_COLUMNS ", variant FROM job")
      .filter(db, filter)
      .page<ListedJob>(db, page, read_listed_job);
}

std::optional<ListedJob> find_listed_job(const Database& db, JobId id) {
  Statement find(db, "SELECT " JOB_COLUMNS ", variant FROM job WHERE id = ?");
  return read_one(find.bind(id), read_listed_job);
}

namespace {

std::map<JobState, int> counted(Statement& count) {
  std::map<JobState, int> counts;
  while (count.step()) {
    const auto state = count.next<JobState>();
    counts[state] = count.next<int>();
  }
  return counts;
}

}  // namespace

std::map<JobState, int> count_jobs(const Database& db) {
  Statement count(db, "SELECT state, count(*) FROM job GROUP BY state");
  return counted(count);
}

std::map<JobState, int> count_jobs_of_night(const Database& db, NightId night) {
  Statement count(db, "SELECT state, count(*) FROM job WHERE night = ? GROUP BY state");
  return counted(count.bind(night));
}

namespace {

// Whether a runner with this label measures the job's variant.
#define MEASURES_JOB(label, usual) \
  "(job.variant IS NULL OR measures(" label ", job.variant, " usual ")) "

// What the runner that asks can do.
struct Abilities {
  std::string workloads;  // a JSON list
  std::optional<std::string> label;
  std::string usual;  // the variant that a runner without a label measures
};

Abilities abilities_of(const Runner& runner, const ClaimRules& rules) {
  const auto label = runner.labels.find("variant");
  return {to_text(runner.workloads.texts()),
          label == runner.labels.end() ? std::nullopt : std::optional(label->second),
          rules.variant};
}

std::optional<JobId> job_to_return(const Database& db, const Runner& runner,
                                   const Abilities& able) {
  Statement find(db,
                 "SELECT id FROM job WHERE state = 'leased' AND restarted = 1 AND runner = ? "
                 "AND iif(kind = 'build', ?, machine = ?) AND attempt <= ? AND NOT EXISTS ("
                 "SELECT 1 FROM job_workload WHERE job = job.id "
                 "AND workload NOT IN (SELECT value FROM json_each(?))) "
                 "AND " MEASURES_JOB("?", "?") "ORDER BY id LIMIT 1");
  return read_one(find.bind(runner.id, is_builder(runner), runner.machine, most_returns,
                            able.workloads, able.label, able.usual),
                  [](Statement& row) { return row.next<JobId>(); });
}

struct Liveness {
  Time now, oldest;  // a runner that was seen before `oldest` is silent
};

std::optional<JobId> session_to_run(const Database& db, const Runner& runner, const Abilities& able,
                                    const Liveness& live) {
  Statement find(db,
                 "SELECT id FROM job WHERE state = 'queued' AND machine = ?1 "
                 "AND " MEASURES_JOB("?6", "?7")
                 "AND (affinity IS NULL OR affinity = ?2) AND NOT EXISTS ("
                 "SELECT 1 FROM job_workload WHERE job = job.id "
                 "AND workload NOT IN (SELECT value FROM json_each(?3))) "
                 "AND (NOT EXISTS (SELECT 1 FROM lost_attempt WHERE job = job.id AND runner = ?2) "
                 "OR NOT EXISTS (SELECT 1 FROM runner "
                 "WHERE runner.machine = ?1 AND runner.id <> ?2 AND runner.seen_at_us >= ?4 "
                 "AND runner.has_left = 0 AND runner.quarantined_until_us <= ?5 "
                 "AND (job.affinity IS NULL OR job.affinity = runner.id) "
                 "AND " MEASURES_JOB("json_extract(runner.labels, '$.variant')", "?7")
                 "AND NOT EXISTS (SELECT 1 FROM lost_attempt AS lost "
                 "WHERE lost.job = job.id AND lost.runner = runner.id) "
                 "AND NOT EXISTS (SELECT 1 FROM job_workload WHERE job = job.id "
                 "AND workload NOT IN (SELECT value FROM json_each(runner.workloads))))) "
                 "ORDER BY priority DESC, id LIMIT 1");
  return read_one(find.bind(runner.machine, runner.id, able.workloads, live.oldest, live.now,
                            able.label, able.usual),
                  [](Statement& row) { return row.next<JobId>(); });
}

std::optional<JobId> build_to_make(const Database& db, const Runner& runner, Time now) {
  if (!is_builder(runner)) return std::nullopt;
  Statement find(db,
                 "SELECT job.id FROM job JOIN source_build AS asked ON asked.job = job.id "
                 "WHERE job.state = 'queued' AND job.kind = 'build' AND asked.not_before_us <= ?1 "
                 "AND (asked.avoided IS NOT ?2 OR asked.avoided_until_us <= ?1) "
                 "ORDER BY job.priority DESC, job.id LIMIT 1");
  return read_one(find.bind(now, runner.id), [](Statement& row) { return row.next<JobId>(); });
}

// What a lost lease means for a build: the machine may be at fault, never the commit.
std::vector<JobId> put_off_lost_builds(Transaction& transaction, Time now) {
  Statement find(transaction,
                 "SELECT id, attempt FROM job WHERE state = 'leased' AND lease_until_us < ? "
                 "AND kind = 'build'");
  const auto lost = read_all(find.bind(now), [](Statement& row) {
    const auto id = row.next<JobId>();
    return std::pair(id, row.next<int>());
  });
  std::vector<JobId> ids;
  for (const auto& [id, attempt] : lost)
    if (put_off_build(transaction, id, attempt, "its builder was lost", now)) ids.push_back(id);
  return ids;
}

}  // namespace

std::vector<WaitingJob> waiting_jobs(const Database& db) {
  Statement find(db,
                 "SELECT id, machine, affinity, (SELECT json_group_array(workload) "
                 "FROM job_workload WHERE job = job.id), unclaimable_since_us, variant "
                 "FROM job WHERE state = 'queued' AND kind <> 'build' ORDER BY id");
  return read_all(find, [](Statement& row) {
    return WaitingJob{row.next<JobId>(),
                      row.next<MachineId>(),
                      row.next<std::optional<RunnerId>>(),
                      list_from_text(row.next<std::string>()),
                      row.next<std::optional<Time>>(),
                      row.next<std::optional<std::string>>()};
  });
}

void note_unclaimable(Transaction& transaction, JobId id, std::optional<Time> since) {
  Statement(transaction, "UPDATE job SET unclaimable_since_us = ? WHERE id = ?")
      .bind(since, id)
      .run();
}

void forget_unclaimable(Transaction& transaction) {
  Statement(transaction, "UPDATE job SET unclaimable_since_us = NULL WHERE state = 'queued'").run();
}

void drop_affinity(Transaction& transaction, JobId id) {
  Statement(transaction, "UPDATE job SET affinity = NULL WHERE id = ?").bind(id).run();
}

bool fail_queued_job(Transaction& transaction, JobId id, std::string_view reason) {
  Statement update(transaction,
                   "UPDATE job SET state = 'failed', reason = ? "
                   "WHERE id = ? AND state = 'queued'");
  update.bind(reason, id).run();
  return update.changes() == 1;
}

std::optional<Job> claim_job(Transaction& transaction, const Runner& runner, Time now,
                             Time lease_until, const ClaimRules& rules) {
  if (now < runner.quarantined_until) return std::nullopt;
  const Abilities able = abilities_of(runner, rules);
  auto id = job_to_return(transaction, runner, able);
  if (!id) id = session_to_run(transaction, runner, able, {now, now - rules.silent});
  if (!id) id = build_to_make(transaction, runner, now);
  if (!id) return std::nullopt;
  Statement(transaction,
            "UPDATE job SET state = 'leased', attempt = attempt + 1, runner = ?1, "
            "facts = (SELECT facts FROM runner WHERE id = ?1), "
            "lease_until_us = ?2, restarted = 0, reason = '', unclaimable_since_us = NULL, "
            "nonce = lower(hex(randomblob(16))) WHERE id = ?3")
      .bind(runner.id, lease_until, *id)
      .run();
  touch_runner(transaction, runner.id, now);
  auto claimed = find_job(transaction, *id);
  return claimed;
}

bool renew_lease(Transaction& transaction, JobId id, int attempt, Time lease_until) {
  Statement update(transaction,
                   "UPDATE job SET lease_until_us = ? "
                   "WHERE id = ? AND attempt = ? AND state = 'leased'");
  update.bind(lease_until, id, attempt).run();
  return update.changes() == 1;
}

bool release_job(Transaction& transaction, JobId id, int attempt) {
  Statement update(transaction,
                   "UPDATE job SET state = 'queued', lease_until_us = NULL "
                   "WHERE id = ? AND attempt = ? AND state = 'leased'");
  update.bind(id, attempt).run();
  return update.changes() == 1;
}

namespace {

void note_lost_attempt(Transaction& transaction, JobId job, RunnerId runner,
                       std::string_view reason, Time now) {
  Statement(transaction,
            "INSERT INTO lost_attempt (job, runner) VALUES (?, ?) "
            "ON CONFLICT DO NOTHING")
      .bind(job, runner)
      .run();
  note_failure(transaction, runner, reason, now);
}

// Whose lease on a session has ended; a build has its own back-off.
void note_lost_leases(Transaction& transaction, Time now) {
  Statement find(transaction,
                 "SELECT id, runner FROM job WHERE state = 'leased' AND lease_until_us < ? "
                 "AND kind <> 'build' AND runner IS NOT NULL");
  const auto lost = read_all(find.bind(now), [](Statement& row) {
    const auto id = row.next<JobId>();
    return std::pair(id, row.next<RunnerId>());
  });
  for (const auto& [job, runner] : lost)
    note_lost_attempt(transaction, job, runner,
                      "its lease on job " + std::to_string(job.value) + " ended", now);
}

}  // namespace

std::vector<JobId> expire_leases(Transaction& transaction, Time now) {
  std::vector<JobId> touched = put_off_lost_builds(transaction, now);
  note_lost_leases(transaction, now);
  Statement update(transaction,
                   "UPDATE job SET lease_until_us = NULL, lost = lost + 1, "
                   "state = iif(lost + 1 >= ?1, 'failed', 'queued'), "
                   "reason = iif(lost + 1 >= ?1, 'its runner was lost in each of ' || ?1 || "
                   "' attempts', reason) "
                   "WHERE state = 'leased' AND lease_until_us < ?2 RETURNING id");
  for (const JobId id :
       read_all(update.bind(lost_attempts, now), [](Statement& row) { return row.next<JobId>(); }))
    touched.push_back(id);
  return touched;
}

bool cancel_job(Transaction& transaction, JobId id, std::string_view reason) {
  Statement update(transaction,
                   "UPDATE job SET state = 'cancelled', lease_until_us = NULL, reason = ? "
                   "WHERE id = ? AND state IN ('queued', 'leased')");
  update.bind(reason, id).run();
  return update.changes() == 1;
}

int cancel_jobs_of_night(Transaction& transaction, NightId night, std::string_view reason) {
  Statement update(transaction,
                   "UPDATE job SET state = 'cancelled', lease_until_us = NULL, reason = ? "
                   "WHERE night = ? AND kind IN ('screen', 'confirm', 'calibrate') "
                   "AND state IN ('queued', 'leased')");
  update.bind(reason, night).run();
  return update.changes();
}

void return_jobs(Transaction& transaction, RunnerId runner) {
  Statement(transaction, "UPDATE job SET restarted = 1 WHERE state = 'leased' AND runner = ?")
      .bind(runner)
      .run();
}

void follow_clock(Transaction& transaction, const ClockStep& clock) {
  const std::int64_t step = clock.step.count();
  // Set back, a lease that ends within its usual time may have been given since.
  Statement(transaction,
            "UPDATE job SET lease_until_us = min(lease_until_us + ?1, ?2) "
            "WHERE state = 'leased' AND (?1 > 0 OR lease_until_us > ?2)")
      .bind(step, clock.now + clock.lease)
      .run();
  Statement(transaction,
            "UPDATE job SET unclaimable_since_us = unclaimable_since_us + ? "
            "WHERE state = 'queued' AND unclaimable_since_us IS NOT NULL")
      .bind(step)
      .run();
  Statement(transaction,
            "UPDATE runner SET seen_at_us = min(seen_at_us + ?1, ?2), "
            "quarantined_until_us = iif(quarantined_until_us = 0, 0, quarantined_until_us + ?1) "
            "WHERE ?1 > 0 OR seen_at_us > ?2")
      .bind(step, clock.now)
      .run();
  if (step > 0) return;
  // What waits for a time would wait longer now. Ahead, it only comes earlier than it must.
  for (const char* wait :
       {"UPDATE outbox SET not_before_us = not_before_us + ?1 WHERE state = 'pending' "
        "AND not_before_us > ?2",
        "UPDATE ci_lookup SET retry_at_us = retry_at_us + ?1 WHERE retry_at_us > ?2",
        "UPDATE source_build SET not_before_us = not_before_us + ?1 WHERE not_before_us > ?2",
        "UPDATE source_build SET avoided_until_us = avoided_until_us + ?1 "
        "WHERE avoided_until_us > ?2"})
    Statement(transaction, wait).bind(step, clock.now).run();
}

bool fail_job(Transaction& transaction, JobId id, int attempt, std::string_view reason) {
  Statement update(transaction,
                   "UPDATE job SET state = 'failed', lease_until_us = NULL, reason = ? "
                   "WHERE id = ? AND attempt = ? AND attempt > 0 "
                   "AND state IN ('queued', 'leased')");
  update.bind(reason, id, attempt).run();
  return update.changes() == 1;
}

bool put_off_job(Transaction& transaction, JobId id, int attempt, std::string_view reason,
                 Time now) {
  Statement update(transaction,
                   "UPDATE job SET lease_until_us = NULL, put_off = put_off + 1, reason = ?1, "
                   "affinity = NULL, "
                   "state = iif(put_off + 1 >= ?2, 'failed', 'queued') "
                   "WHERE id = ?3 AND attempt = ?4 AND attempt > 0 "
                   "AND state IN ('queued', 'leased')");
  update.bind(reason, most_put_off, id, attempt).run();
  if (update.changes() != 1) return false;
  const auto job = find_job(transaction, id);
  if (job && job->runner) note_lost_attempt(transaction, id, *job->runner, reason, now);
  return true;
}

}  // namespace nightjar::storage
