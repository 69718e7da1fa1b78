#include <stdexcept>

#include "storage/commits.hpp"
#include "storage/paging.hpp"
#include "storage/regressions.hpp"

namespace nightjar::storage {
namespace {

#define BISECTION_SELECT                                                                        \
  "SELECT id, regression, series, state, good, bad, posterior, runs, sessions, spent_seconds, " \
  "expected_runs, started_at_us, finished_at_us FROM bisection"

auto bisection_reader(Database& db) {
  return [&db](Statement& row) {
    Bisection bisection;
    bisection.id = row.next<BisectionId>();
    bisection.regression = row.next<RegressionId>();
    bisection.series = row.next<SeriesId>();
    bisection.state = row.next<BisectionState>();
    bisection.good = row.next<BuildId>();
    bisection.bad = row.next<BuildId>();
    bisection.posterior = row.next<std::string>();
    bisection.runs = row.next<int>();
    bisection.sessions = row.next<int>();
    bisection.spent_seconds = row.next<double>();
    bisection.expected_runs = row.next<double>();
    bisection.started_at = row.next<Time>();
    bisection.finished_at = row.next<std::optional<Time>>();
    bisection.commits = read_commits(db, "bisection", bisection.id);
    return bisection;
  };
}

}  // namespace

Bisection add_bisection(Database& db, const Bisection& bisection) {
  Transaction transaction(db);
  Statement insert(db,
                   "INSERT INTO bisection (regression, series, state, good, bad, posterior, "
                   "started_at_us, finished_at_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT DO NOTHING");
  insert
      .bind(bisection.regression, bisection.series, bisection.state, bisection.good, bisection.bad,
            bisection.posterior, bisection.started_at, bisection.finished_at)
      .run();
  if (insert.changes() == 1)
    write_commits(db, "bisection", BisectionId{insert.inserted_id()}, bisection.commits);
  auto stored = bisection_of(db, bisection.regression);
  transaction.commit();
  return *std::move(stored);
}

void update_bisection(Database& db, const Bisection& bisection) {
  Transaction transaction(db);
  Statement(db,
            "UPDATE bisection SET series = ?, state = ?, good = ?, bad = ?, posterior = ?, "
            "runs = ?, sessions = ?, spent_seconds = ?, expected_runs = ?, started_at_us = ?, "
            "finished_at_us = ? WHERE id = ?")
      .bind(bisection.series, bisection.state, bisection.good, bisection.bad, bisection.posterior,
            bisection.runs, bisection.sessions, bisection.spent_seconds, bisection.expected_runs,
            bisection.started_at, bisection.finished_at, bisection.id)
      .run();
  write_commits(db, "bisection", bisection.id, bisection.commits);
  transaction.commit();
}

std::optional<Bisection> find_bisection(Database& db, BisectionId id) {
  Statement find(db, BISECTION_SELECT " WHERE id = ?");
  return read_one(find.bind(id), bisection_reader(db));
}

std::optional<Bisection> bisection_of(Database& db, RegressionId regression) {
  Statement find(db, BISECTION_SELECT " WHERE regression = ?");
  return read_one(find.bind(regression), bisection_reader(db));
}

std::optional<Bisection> search_behind(Database& db, RegressionId regression) {
  Statement find(db, BISECTION_SELECT
                 " WHERE regression = (SELECT first.id FROM regression this JOIN regression first "
                 "ON first.night = this.night AND first.lead = this.lead AND first.bad = this.bad "
                 "AND first.part = 0 "
                 "WHERE this.id = ?)");
  return read_one(find.bind(regression), bisection_reader(db));
}

std::vector<Bisection> open_bisections(Database& db) {
  Statement find(db, BISECTION_SELECT " WHERE state = 'open' ORDER BY id");
  return read_all(find, bisection_reader(db));
}

Page<Bisection> list_bisections(Database& db, const PageRequest& page) {
  return Query(BISECTION_SELECT).page<Bisection>(db, page, bisection_reader(db));
}

void add_bisection_job(Database& db, BisectionId id, const BisectionJob& job) {
  Statement(db,
            "INSERT INTO bisection_job (bisection, job, session) VALUES (?, ?, ?) "
            "ON CONFLICT DO NOTHING")
      .bind(id, job.job, job.session)
      .run();
}

std::vector<BisectionJob> jobs_of_bisection(Database& db, BisectionId id) {
  Statement find(db, "SELECT job, session FROM bisection_job WHERE bisection = ? ORDER BY id");
  return read_all(find.bind(id), [](Statement& row) -> BisectionJob {
    return {row.next<JobId>(), row.next<int>()};
  });
}

void add_untestable(Database& db, BisectionId id, const Untestable& commit) {
  Statement(db,
            "INSERT INTO bisection_untestable (bisection, position, reason) VALUES (?, ?, ?) "
            "ON CONFLICT DO NOTHING")
      .bind(id, commit.commit, commit.reason)
      .run();
}

std::vector<Untestable> untestable_of(Database& db, BisectionId id) {
  Statement find(db,
                 "SELECT position, reason FROM bisection_untestable "
                 "WHERE bisection = ? ORDER BY position");
  return read_all(find.bind(id), [](Statement& row) -> Untestable {
    return {row.next<int>(), row.next<std::string>()};
  });
}

}  // namespace nightjar::storage
