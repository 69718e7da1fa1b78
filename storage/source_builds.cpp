#include "storage/source_builds.hpp"

#include <algorithm>

#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/model/json.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {
namespace {

using std::chrono::minutes;
// Others may try after 1, 2, 4, ... minutes, at most 4 hours; the same runner after four times
// that.
constexpr minutes first_pause{1}, longest_pause{240};
constexpr int elsewhere = 4;

#define SOURCE_COLUMNS                                                                      \
  "job, native_state, variant, recipe_sha256, commit_sha, state, build, reason, failures, " \
  "not_before_us, result"

SourceBuild read_source_build(Statement& row) {
  SourceBuild made{row.next<JobId>(),
                   row.next<Sha256>(),
                   row.next<std::string>(),
                   row.next<Sha256>(),
                   row.next<CommitSha>(),
                   row.next<SourceState>(),
                   row.next<std::optional<BuildId>>(),
                   row.next<std::string>(),
                   row.next<int>(),
                   row.next<Time>(),
                   {}};
  if (const auto text = row.next<std::string>(); !text.empty())
    made.result = nlohmann::json::parse(text).get<SourceResult>();
  return made;
}

std::string job_key(const SourceRequest& request) {
  return "build/" + request.native_state.str() + "/" + request.variant + "/" +
         request.source.recipe_sha256.str() + "/" + request.source.commit.str();
}

// Queues a job again that a person cancelled, or that was given up, while its build is still
// wanted.
void queue_again(Transaction& transaction, const SourceBuild& asked, Time now) {
  Statement(transaction,
            "UPDATE job SET state = 'queued', lost = 0, reason = '' "
            "WHERE id = ? AND state IN ('failed', 'cancelled')")
      .bind(asked.job)
      .run();
  Statement(transaction,
            "UPDATE source_build SET not_before_us = max(not_before_us, ?) WHERE job = ?")
      .bind(now, asked.job)
      .run();
}

// The wheel was made and is gone. Its build's row stays: runs name it.
void make_again(Transaction& transaction, const SourceBuild& asked, Time now) {
  Statement(transaction,
            "UPDATE job SET state = 'queued', lost = 0, reason = '' WHERE id = ? "
            "AND state = 'done'")
      .bind(asked.job)
      .run();
  Statement(transaction,
            "UPDATE source_build SET state = 'waiting', build = NULL, not_before_us = ? "
            "WHERE job = ?")
      .bind(now, asked.job)
      .run();
}

Time later_by(Time now, int failures, int times) {
  const auto pause = std::min(longest_pause, first_pause * (1 << std::min(failures, 10)));
  return now + pause * times;
}

SourceState state_after(SourceOutcome outcome) {
  switch (outcome) {
    case SourceOutcome::built:
      return SourceState::built;
    case SourceOutcome::does_not_compile:
      return SourceState::does_not_compile;
    case SourceOutcome::does_not_import:
      return SourceState::does_not_import;
    case SourceOutcome::infrastructure:
      break;
  }
  return SourceState::waiting;
}

bool holds(const Database& db, JobId id, int attempt) {
  const auto job = find_job(db, id);
  return job && job->state == JobState::leased && job->attempt == attempt;
}

// A wheel that is made again may have another hash. If so, it is proved again.
BuildId store_wheel(Transaction& transaction, const Build& wheel) {
  Build stored = add_build(transaction, wheel);
  if (stored.sha256 != wheel.sha256) {
    stored.sha256 = wheel.sha256;
    stored.state = wheel.state;
    stored.reason.clear();
    update_build(transaction, stored);
  }
  return stored.id;
}

void note_result(Transaction& transaction, JobId job, const SourceResult& result) {
  const std::string text = nlohmann::json(result).dump();
  Statement(transaction, "UPDATE source_build SET result = ?, reason = ? WHERE job = ?")
      .bind(text, result.reason, job)
      .run();
}

}  // namespace

SourceBuild request_build(Transaction& transaction, const SourceRequest& request) {
  const SourceSpec& source = request.source;
  if (const auto asked = find_source_build(transaction, request.native_state, request.variant,
                                           source.recipe_sha256, source.commit)) {
    if (asked->state == SourceState::waiting) queue_again(transaction, *asked, request.now);
    if (asked->state == SourceState::built && request.wheel_is_lost)
      make_again(transaction, *asked, request.now);
    return find_source_build(transaction, asked->job).value();
  }
  Job job;
  job.key = job_key(request);
  job.night = request.night;
  job.spec.kind = JobKind::build;
  job.spec.source = request.source;
  job.priority = request.priority;
  job.created_at = request.now;
  const JobId id = add_job(transaction, job).id;
  Statement(transaction,
            "INSERT INTO source_build (job, native_state, variant, recipe_sha256, commit_sha, "
            "state, reason, not_before_us, result) VALUES (?, ?, ?, ?, ?, 'waiting', '', ?, '')")
      .bind(id, request.native_state, request.variant, request.source.recipe_sha256,
            request.source.commit, request.now)
      .run();
  return find_source_build(transaction, id).value();
}

std::optional<SourceBuild> find_source_build(const Database& db, JobId job) {
  Statement find(db, "SELECT " SOURCE_COLUMNS " FROM source_build WHERE job = ?");
  return read_one(find.bind(job), read_source_build);
}

std::optional<SourceBuild> find_source_build(const Database& db, const Sha256& native_state,
                                             std::string_view variant, const Sha256& recipe,
                                             const CommitSha& commit) {
  Statement find(db, "SELECT " SOURCE_COLUMNS
                     " FROM source_build WHERE native_state = ?1 AND variant = ?2 "
                     "AND recipe_sha256 = ?3 AND (commit_sha = ?4 OR state <> 'does_not_import') "
                     "ORDER BY commit_sha = ?4 DESC LIMIT 1");
  return read_one(find.bind(native_state, variant, recipe, commit), read_source_build);
}

std::optional<JobId> build_job_of_commit(const Database& db, const CommitSha& commit) {
  Statement find(db,
                 "SELECT job FROM source_build WHERE native_state IN "
                 "(SELECT native_state FROM commit_state WHERE commit_sha = ?) "
                 "ORDER BY id DESC LIMIT 1");
  return read_one(find.bind(commit), [](Statement& row) { return row.next<JobId>(); });
}

std::vector<SourceBuild> source_builds_under_way(const Database& db) {
  Statement find(db, "SELECT " SOURCE_COLUMNS
                     " FROM source_build WHERE state = 'waiting' AND job IN "
                     "(SELECT id FROM job WHERE state IN ('queued', 'leased')) ORDER BY id");
  return read_all(find, read_source_build);
}

int builds_for_search(const Database& db, BisectionId search) {
  Statement find(db,
                 "SELECT count(*) FROM source_build WHERE state = 'waiting' AND job IN "
                 "(SELECT id FROM job WHERE state IN ('queued', 'leased')) AND native_state IN "
                 "(SELECT known.native_state FROM bisection_commit AS tried "
                 "JOIN commit_state AS known ON known.commit_sha = tried.commit_sha "
                 "WHERE tried.bisection = ?)");
  return read_one(find.bind(search), [](Statement& row) { return row.next<int>(); }).value();
}

std::vector<SourceResult> results_of_recipe(const Database& db, const Sha256& recipe, int limit) {
  Statement find(db, "SELECT " SOURCE_COLUMNS
                     " FROM source_build WHERE state = 'built' AND recipe_sha256 = ? "
                     "ORDER BY id DESC LIMIT ?");
  std::vector<SourceResult> results;
  for (const SourceBuild& made : read_all(find.bind(recipe, limit), read_source_build))
    if (made.result) results.insert(results.begin(), *made.result);
  return results;
}

std::optional<SourceBuild> unproved_source_build(const Database& db) {
  Statement find(db, "SELECT " SOURCE_COLUMNS
                     " FROM source_build WHERE build IN (SELECT id FROM build "
                     "WHERE state = 'found' AND kind = 'source') ORDER BY id LIMIT 1");
  return read_one(find, read_source_build);
}

Accepted store_source_result(Transaction& transaction, JobId id, int attempt,
                             const SourceResult& result, const std::optional<Build>& build,
                             Time now) {
  const auto job = find_job(transaction, id);
  if (!job || job->attempt != attempt) return Accepted::stale;
  if (job->state == JobState::done) return Accepted::already_stored;
  if (job->state != JobState::leased && job->state != JobState::queued) return Accepted::stale;
  note_result(transaction, id, result);
  if (result.outcome == SourceOutcome::infrastructure) {
    put_off_build(transaction, id, attempt, result.reason, now);
    return Accepted::stored;
  }
  std::optional<BuildId> stored;
  if (build) stored = store_wheel(transaction, *build);
  Statement(transaction, "UPDATE source_build SET state = ?, build = ? WHERE job = ?")
      .bind(state_after(result.outcome), stored, id)
      .run();
  Statement(transaction,
            "UPDATE job SET state = 'done', lease_until_us = NULL, reason = ? WHERE id = ?")
      .bind(result.reason, id)
      .run();
  return Accepted::stored;
}

bool put_off_build(Transaction& transaction, JobId id, int attempt, std::string_view reason,
                   Time now) {
  if (!holds(transaction, id, attempt)) return false;
  const auto asked = find_source_build(transaction, id);
  if (!asked) return false;
  Statement(transaction,
            "UPDATE source_build SET failures = failures + 1, reason = ?, not_before_us = ?, "
            "avoided = (SELECT runner FROM job WHERE id = ?4), avoided_until_us = ?3 "
            "WHERE job = ?4")
      .bind(reason, later_by(now, asked->failures, 1), later_by(now, asked->failures, elsewhere),
            id)
      .run();
  Statement(transaction,
            "UPDATE job SET state = 'queued', lease_until_us = NULL, reason = ? WHERE id = ?")
      .bind(reason, id)
      .run();
  return true;
}

bool is_builder(const Runner& runner) {
  return runner.labels.contains(builder_label);
}

}  // namespace nightjar::storage
