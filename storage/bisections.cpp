#include "storage/bisections.hpp"

#include "storage/commits.hpp"
#include "storage/filtered.hpp"
#include "storage/paging.hpp"
#include "storage/search_rows.hpp"

namespace nightjar::storage {
namespace {

#define BISECTION_SELECT                                                            \
  "SELECT id, regression, fix, series, state, good, bad, outcome, runs, sessions, " \
  "spent_seconds, expected_runs, started_at_us, finished_at_us FROM bisection"

auto bisection_reader(const Database& db) {
  return [&db](Statement& row) {
    Bisection bisection;
    bisection.id = row.next<BisectionId>();
    bisection.regression = row.next<std::optional<RegressionId>>();
    bisection.fix = row.next<std::optional<FixId>>();
    bisection.series = row.next<SeriesId>();
    bisection.state = row.next<BisectionState>();
    bisection.good = row.next<BuildId>();
    bisection.bad = row.next<BuildId>();
    bisection.outcome = row.next<std::optional<SearchOutcome>>();
    bisection.runs = row.next<int>();
    bisection.sessions = row.next<int>();
    bisection.spent_seconds = row.next<double>();
    bisection.expected_runs = row.next<double>();
    bisection.started_at = row.next<Time>();
    bisection.finished_at = row.next<std::optional<Time>>();
    bisection.commits = read_commits(db, "bisection", bisection.id);
    bisection.posterior = read_cells(db, "bisection", bisection.id);
    bisection.found = read_steps(db, "bisection", bisection.id);
    return bisection;
  };
}

}  // namespace

Bisection add_bisection(Transaction& transaction, const Bisection& bisection) {
  Statement insert(transaction,
                   "INSERT INTO bisection (regression, fix, series, state, good, bad, "
                   "started_at_us, finished_at_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT DO NOTHING");
  insert
      .bind(bisection.regression, bisection.fix, bisection.series, bisection.state, bisection.good,
            bisection.bad, bisection.started_at, bisection.finished_at)
      .run();
  if (insert.changes() == 1) {
    const BisectionId id{insert.inserted_id()};
    write_commits(transaction, "bisection", id, bisection.commits);
    write_result(transaction, "bisection", id, bisection.posterior, bisection.found);
  }
  auto stored = bisection.fix ? bisection_of(transaction, *bisection.fix)
                              : bisection_of(transaction, bisection.regression.value());
  return *std::move(stored);
}

void update_bisection(Transaction& transaction, const Bisection& bisection) {
  Statement(transaction,
            "UPDATE bisection SET series = ?, state = ?, good = ?, bad = ?, outcome = ?, "
            "runs = ?, sessions = ?, spent_seconds = ?, expected_runs = ?, started_at_us = ?, "
            "finished_at_us = ? WHERE id = ?")
      .bind(bisection.series, bisection.state, bisection.good, bisection.bad, bisection.outcome,
            bisection.runs, bisection.sessions, bisection.spent_seconds, bisection.expected_runs,
            bisection.started_at, bisection.finished_at, bisection.id)
      .run();
  write_commits(transaction, "bisection", bisection.id, bisection.commits);
  write_result(transaction, "bisection", bisection.id, bisection.posterior, bisection.found);
}

std::optional<Bisection> find_bisection(const Database& db, BisectionId id) {
  Statement find(db, BISECTION_SELECT " WHERE id = ?");
  return read_one(find.bind(id), bisection_reader(db));
}

std::optional<Bisection> bisection_of(const Database& db, RegressionId regression) {
  Statement find(db, BISECTION_SELECT " WHERE regression = ?");
  return read_one(find.bind(regression), bisection_reader(db));
}

std::optional<Bisection> bisection_of(const Database& db, FixId fix) {
  Statement find(db, BISECTION_SELECT " WHERE fix = ?");
  return read_one(find.bind(fix), bisection_reader(db));
}

std::optional<Bisection> search_behind(const Database& db, RegressionId regression) {
  Statement find(db, BISECTION_SELECT
                 " WHERE regression = (SELECT first.id FROM regression this JOIN regression first "
                 "ON first.night = this.night AND first.lead = this.lead AND first.bad = this.bad "
                 "AND first.part = 0 "
                 "WHERE this.id = ?)");
  return read_one(find.bind(regression), bisection_reader(db));
}

std::vector<Bisection> bisections_in_state(const Database& db, BisectionState state) {
  Statement find(db, BISECTION_SELECT " WHERE state = ? ORDER BY id");
  return read_all(find.bind(state), bisection_reader(db));
}

std::vector<Bisection> open_bisections(const Database& db) {
  return bisections_in_state(db, BisectionState::open);
}

std::vector<Bisection> bisections_of_commit(const Database& db, const CommitSha& commit,
                                            int count) {
  Statement find(db, BISECTION_SELECT
                 " WHERE id IN (SELECT bisection FROM bisection_commit WHERE commit_sha = ?) "
                 "ORDER BY id DESC LIMIT ?");
  return read_all(find.bind(commit, count), bisection_reader(db));
}

Page<Bisection> list_bisections(const Database& db, const PageRequest& page) {
  return list_bisections(db, BisectionFilter{}, page);
}

Page<Bisection> list_bisections(const Database& db, const BisectionFilter& filter,
                                const PageRequest& page) {
  return Query(BISECTION_SELECT).filter(db, filter).page<Bisection>(db, page, bisection_reader(db));
}

void add_bisection_job(Transaction& transaction, BisectionId id, const BisectionJob& job) {
  add_search_job(transaction, "bisection", id, job);
}

std::vector<BisectionJob> jobs_of_bisection(const Database& db, BisectionId id) {
  return jobs_of_search(db, "bisection", id);
}

void add_untestable(Transaction& transaction, BisectionId id, const Untestable& commit) {
  Statement(
      transaction,
      "INSERT INTO bisection_untestable (bisection, position, cause, reason) VALUES (?, ?, ?, ?) "
      "ON CONFLICT DO NOTHING")
      .bind(id, commit.commit, commit.cause, commit.reason)
      .run();
}

void remove_untestable(Transaction& transaction, BisectionId id, int commit) {
  Statement(transaction, "DELETE FROM bisection_untestable WHERE bisection = ? AND position = ?")
      .bind(id, commit)
      .run();
}

std::vector<Untestable> untestable_of(const Database& db, BisectionId id) {
  Statement find(db,
                 "SELECT position, cause, reason FROM bisection_untestable "
                 "WHERE bisection = ? ORDER BY position");
  return read_all(find.bind(id), [](Statement& row) -> Untestable {
    return {row.next<int>(), row.next<UntestableCause>(), row.next<std::string>()};
  });
}

}  // namespace nightjar::storage
