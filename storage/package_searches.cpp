#include "storage/package_searches.hpp"

#include "storage/search_rows.hpp"

namespace nightjar::storage {
namespace {

#define PACKAGE_SEARCH_SELECT                                                                   \
  "SELECT id, regression, number, question, state, series, wheel, held_package, held_version, " \
  "rule, runs, sessions, spent_seconds, expected_runs, failures, not_before_us, "               \
  "started_at_us, finished_at_us FROM package_search"

std::vector<PackageMix> mixes_of(const Database& db, PackageSearchId id) {
  Statement find(db,
                 "SELECT package, version, state, lock, reason FROM package_mix WHERE search = ? "
                 "ORDER BY position");
  return read_all(find.bind(id), [](Statement& row) -> PackageMix {
    PackageMix mix;
    mix.changed.name = row.next<std::string>();
    mix.changed.version = row.next<std::string>();
    mix.state = row.next<MixState>();
    mix.lock = row.next<std::optional<Sha256>>();
    mix.reason = row.next<std::string>();
    return mix;
  });
}

auto search_reader(const Database& db) {
  return [&db](Statement& row) {
    PackageSearch search;
    search.id = row.next<PackageSearchId>();
    search.regression = row.next<RegressionId>();
    search.number = row.next<int>();
    search.question = row.next<PackageQuestion>();
    search.state = row.next<PackageSearchState>();
    search.series = row.next<SeriesId>();
    search.wheel = row.next<BuildId>();
    const auto held = row.next<std::optional<std::string>>();
    const auto version = row.next<std::optional<std::string>>();
    if (held) search.held = LockedPackage{*held, version.value_or("")};
    search.rule = row.next<std::string>();
    search.runs = row.next<int>();
    search.sessions = row.next<int>();
    search.spent_seconds = row.next<double>();
    search.expected_runs = row.next<double>();
    search.failures = row.next<int>();
    search.not_before = row.next<std::optional<Time>>();
    search.started_at = row.next<Time>();
    search.finished_at = row.next<std::optional<Time>>();
    search.mixes = mixes_of(db, search.id);
    search.posterior = read_cells(db, "package_search", search.id);
    search.found = read_steps(db, "package_search", search.id);
    return search;
  };
}

void write_lists(Transaction& transaction, const PackageSearch& search) {
  Statement(transaction, "DELETE FROM package_mix WHERE search = ?").bind(search.id).run();
  Statement mix(transaction,
                "INSERT INTO package_mix (search, position, package, version, state, lock, reason) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < search.mixes.size(); ++i) {
    const PackageMix& one = search.mixes[i];
    mix.bind(search.id, i, one.changed.name, one.changed.version, one.state, one.lock, one.reason)
        .run();
  }
  write_result(transaction, "package_search", search.id, search.posterior, search.found);
}

}  // namespace

PackageSearch add_package_search(Transaction& transaction, const PackageSearch& search) {
  Statement insert(
      transaction,
      "INSERT INTO package_search (regression, number, question, state, series, wheel, "
      "held_package, held_version, rule, runs, sessions, spent_seconds, "
      "expected_runs, failures, not_before_us, started_at_us, finished_at_us) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT DO NOTHING");
  std::optional<std::string> held, version;
  if (search.held) held = search.held->name, version = search.held->version;
  insert
      .bind(search.regression, search.number, search.question, search.state, search.series,
            search.wheel, held, version, search.rule, search.runs, search.sessions,
            search.spent_seconds, search.expected_runs, search.failures, search.not_before,
            search.started_at, search.finished_at)
      .run();
  PackageSearch stored = search;
  if (insert.changes() == 1) {
    stored.id = PackageSearchId{insert.inserted_id()};
    write_lists(transaction, stored);
    return stored;
  }
  Statement find(transaction, PACKAGE_SEARCH_SELECT " WHERE regression = ? AND number = ?");
  auto known = read_one(find.bind(search.regression, search.number), search_reader(transaction));
  return *std::move(known);
}

void update_package_search(Transaction& transaction, const PackageSearch& search) {
  Statement(transaction,
            "UPDATE package_search SET state = ?, rule = ?, runs = ?, sessions = ?, "
            "spent_seconds = ?, expected_runs = ?, failures = ?, not_before_us = ?, "
            "finished_at_us = ? WHERE id = ?")
      .bind(search.state, search.rule, search.runs, search.sessions, search.spent_seconds,
            search.expected_runs, search.failures, search.not_before, search.finished_at, search.id)
      .run();
  write_lists(transaction, search);
}

std::optional<PackageSearch> find_package_search(const Database& db, PackageSearchId id) {
  Statement find(db, PACKAGE_SEARCH_SELECT " WHERE id = ?");
  return read_one(find.bind(id), search_reader(db));
}

std::vector<PackageSearch> package_searches_of(const Database& db, RegressionId regression) {
  Statement find(db, PACKAGE_SEARCH_SELECT " WHERE regression = ? ORDER BY number");
  return read_all(find.bind(regression), search_reader(db));
}

std::vector<PackageSearch> open_package_searches(const Database& db) {
  Statement find(db, PACKAGE_SEARCH_SELECT " WHERE state IN ('listing', 'open') ORDER BY id");
  return read_all(find, search_reader(db));
}

void add_package_job(Transaction& transaction, PackageSearchId id, const BisectionJob& job) {
  add_search_job(transaction, "package_search", id, job);
}

std::vector<BisectionJob> jobs_of_package_search(const Database& db, PackageSearchId id) {
  return jobs_of_search(db, "package_search", id);
}

void end_package_searches(Transaction& transaction, RegressionId regression, Time now) {
  Statement(transaction, "UPDATE attribution SET searched_at_us = ? WHERE regression = ?")
      .bind(now, regression)
      .run();
}

void set_pin_moves(Transaction& transaction, RegressionId regression,
                   const std::vector<PinMove>& moves) {
  Statement insert(transaction,
                   "INSERT INTO pin_move (regression, position, commit_sha, path) "
                   "VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
  for (std::size_t i = 0; i < moves.size(); ++i)
    insert.bind(regression, i, moves[i].commit, moves[i].path).run();
}

std::vector<PinMove> pin_moves_of(const Database& db, RegressionId regression) {
  Statement find(db,
                 "SELECT commit_sha, path FROM pin_move WHERE regression = ? ORDER BY position");
  return read_all(find.bind(regression), [](Statement& row) -> PinMove {
    return {row.next<CommitSha>(), row.next<std::string>()};
  });
}

bool packages_are_searched(const Database& db, RegressionId regression) {
  Statement find(db,
                 "SELECT searched_at_us FROM attribution WHERE regression = ? "
                 "AND searched_at_us IS NOT NULL");
  return find.bind(regression).step();
}

}  // namespace nightjar::storage
