#include "storage/regressions.hpp"

#include <stdexcept>

#include "storage/affected_classes.hpp"
#include "storage/commits.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {
namespace {

#define REGRESSION_COLUMNS                                                                     \
  "id, state, found_by, night, machine, good, bad, part, culprit_probability, culprit_ratio, " \
  "culprit_low, culprit_high, is_range, merged_into, unfinished, fingerprint, issue_number, "  \
  "issue_url, opened_at_us, updated_at_us"
#define REGRESSION_SELECT "SELECT " REGRESSION_COLUMNS " FROM regression"

std::vector<AffectedSeries> read_affected(const Database& db, RegressionId id) {
  Statement find(db,
                 "SELECT series, before, after, ratio, low, high FROM regression_series "
                 "WHERE regression = ? ORDER BY position");
  return read_all(find.bind(id), [](Statement& row) -> AffectedSeries {
    return {row.next<SeriesId>(), row.next<double>(), row.next<double>(),
            row.next<double>(),   row.next<double>(), row.next<double>()};
  });
}

void write_affected(Transaction& transaction, RegressionId id,
                    const std::vector<AffectedSeries>& affected) {
  Statement(transaction, "DELETE FROM regression_series WHERE regression = ?").bind(id).run();
  Statement insert(transaction,
                   "INSERT INTO regression_series (regression, position, series, before, "
                   "after, ratio, low, high) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < affected.size(); ++i) {
    const AffectedSeries& one = affected[i];
    insert.bind(id, i, one.series, one.before, one.after, one.ratio, one.low, one.high).run();
  }
}

Regression read_regression(const Database& db, Statement& row) {
  Regression regression;
  regression.id = row.next<RegressionId>();
  regression.state = row.next<RegressionState>();
  regression.found_by = row.next<FoundBy>();
  regression.night = row.next<NightId>();
  regression.machine = row.next<MachineId>();
  regression.good = row.next<BuildId>();
  regression.bad = row.next<BuildId>();
  regression.part = row.next<int>();
  const auto probability = row.next<std::optional<double>>();
  Culprit culprit{
      {}, probability.value_or(0), row.next<double>(), row.next<double>(), row.next<double>()};
  const bool is_range = row.next<bool>();
  if (probability) {
    culprit.commits = read_commits(db, "regression", regression.id);
    (is_range ? regression.range : regression.culprit) = std::move(culprit);
  }
  regression.merged_into = row.next<std::optional<RegressionId>>();
  regression.unfinished = row.next<int>();
  regression.fingerprint = row.next<std::string>();
  regression.issue_number = row.next<std::optional<std::int64_t>>();
  regression.issue_url = row.next<std::string>();
  regression.opened_at = row.next<Time>();
  regression.updated_at = row.next<Time>();
  regression.series = read_affected(db, regression.id);
  return regression;
}

auto regression_reader(const Database& db) {
  return [&db](Statement& row) { return read_regression(db, row); };
}

SeriesId lead_of(const Regression& regression) {
  if (regression.series.empty())
    throw std::invalid_argument("a regression needs a series that shows it");
  return regression.series[0].series;
}

void append_change(Transaction& transaction, RegressionId id, const RegressionChange& change) {
  Statement(transaction,
            "INSERT INTO regression_change (regression, state, at_us, evidence, rule) "
            "VALUES (?, ?, ?, ?, ?)")
      .bind(id, change.state, change.at, change.evidence.text, change.evidence.rule)
      .run();
  Statement(transaction, "UPDATE regression SET updated_at_us = ? WHERE id = ?")
      .bind(change.at, id)
      .run();
}

void write_regression(Transaction& transaction, const Regression& regression,
                      RegressionState state) {
  const auto& culprit = regression.range ? regression.range : regression.culprit;
  const auto number = [&](double Culprit::*member) {
    return culprit ? std::optional((*culprit).*member) : std::nullopt;
  };
  Statement(transaction,
            "UPDATE regression SET state = ?, night = ?, machine = ?, good = ?, bad = ?, lead = ?, "
            "culprit_probability = ?, culprit_ratio = ?, culprit_low = ?, culprit_high = ?, "
            "is_range = ?, merged_into = ?, unfinished = ?, fingerprint = ?, issue_number = ?, "
            "issue_url = ?, "
            "opened_at_us = ? WHERE id = ?")
      .bind(state, regression.night, regression.machine, regression.good, regression.bad,
            lead_of(regression), number(&Culprit::probability), number(&Culprit::ratio),
            number(&Culprit::low), number(&Culprit::high), regression.range.has_value(),
            regression.merged_into, regression.unfinished, regression.fingerprint,
            regression.issue_number, regression.issue_url, regression.opened_at, regression.id)
      .run();
  write_affected(transaction, regression.id, regression.series);
  write_seen_classes(transaction, regression.id);
  write_commits(transaction, "regression", regression.id,
                culprit ? culprit->commits : std::vector<CommitSha>{});
}

RegressionState state_of(const Database& db, RegressionId id) {
  Statement find(db, "SELECT state FROM regression WHERE id = ?");
  if (!find.bind(id).step())
    throw std::invalid_argument("there is no regression " + std::to_string(id.value));
  return find.next<RegressionState>();
}

}  // namespace

Regression add_regression(Transaction& transaction, const Regression& regression,
                          const RegressionChange& change) {
  if (!lifecycle_of(change.state).may_begin)
    throw std::logic_error("a regression cannot begin as " + std::string(name_of(change.state)));
  Statement insert(
      transaction,
      "INSERT INTO regression (state, found_by, night, machine, good, bad, lead, part, "
      "fingerprint, issue_url, opened_at_us, updated_at_us) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', '', ?, ?) ON CONFLICT DO NOTHING");
  insert
      .bind(change.state, regression.found_by, regression.night, regression.machine,
            regression.good, regression.bad, lead_of(regression), regression.part,
            regression.opened_at, change.at)
      .run();
  if (insert.changes() == 1) {
    Regression added = regression;
    added.id = RegressionId{insert.inserted_id()};
    write_regression(transaction, added, change.state);
    append_change(transaction, added.id, change);
  }
  Statement find(transaction,
                 REGRESSION_SELECT " WHERE night = ? AND lead = ? AND bad = ? AND part = ?");
  auto stored =
      read_one(find.bind(regression.night, lead_of(regression), regression.bad, regression.part),
               regression_reader(transaction));
  return *std::move(stored);
}

void change_regression(Transaction& transaction, const Regression& regression,
                       const RegressionChange& change) {
  const RegressionState before = state_of(transaction, regression.id);
  if (!may_follow(before, change.state))
    throw std::logic_error("regression " + std::to_string(regression.id.value) + ", which is " +
                           std::string(name_of(before)) + ", cannot become " +
                           std::string(name_of(change.state)));
  write_regression(transaction, regression, change.state);
  append_change(transaction, regression.id, change);
}

void update_regression(Transaction& transaction, const Regression& regression) {
  write_regression(transaction, regression, state_of(transaction, regression.id));
}

std::optional<Regression> find_regression(const Database& db, RegressionId id) {
  Statement find(db, REGRESSION_SELECT " WHERE id = ?");
  return read_one(find.bind(id), regression_reader(db));
}

std::optional<Regression> find_regression(const Database& db, std::string_view fingerprint) {
  Statement find(db, REGRESSION_SELECT
                 " WHERE fingerprint = ? AND fingerprint <> '' "
                 "ORDER BY state = 'merged', id DESC LIMIT 1");
  return read_one(find.bind(fingerprint), regression_reader(db));
}

std::vector<RegressionChange> changes_of(const Database& db, RegressionId id) {
  Statement find(db,
                 "SELECT state, at_us, evidence, rule FROM regression_change "
                 "WHERE regression = ? ORDER BY id");
  return read_all(find.bind(id), [](Statement& row) -> RegressionChange {
    return {row.next<RegressionState>(),
            row.next<Time>(),
            {row.next<std::string>(), row.next<std::string>()}};
  });
}

std::vector<Regression> regressions_in_state(const Database& db, RegressionState state) {
  Statement find(db, REGRESSION_SELECT " WHERE state = ? ORDER BY id");
  return read_all(find.bind(state), regression_reader(db));
}

std::vector<Regression> reported_without_name(const Database& db) {
  Statement find(db, REGRESSION_SELECT
                 " WHERE state = 'reported' AND culprit_probability IS NULL ORDER BY id");
  return read_all(find, regression_reader(db));
}

std::map<RegressionState, int> count_regressions(const Database& db) {
  std::map<RegressionState, int> counts;
  Statement count(db, "SELECT state, count(*) FROM regression GROUP BY state");
  while (count.step()) {
    const auto state = count.next<RegressionState>();
    counts[state] = count.next<int>();
  }
  return counts;
}

std::vector<Regression> regressions_of_night(const Database& db, NightId night) {
  Statement find(db, REGRESSION_SELECT " WHERE night = ? ORDER BY id");
  return read_all(find.bind(night), regression_reader(db));
}

Regression standing_for(const Database& db, Regression regression) {
  while (regression.merged_into) {
    auto next = find_regression(db, *regression.merged_into);
    if (!next) break;
    regression = *std::move(next);
  }
  return regression;
}

std::vector<Regression> merged_into(const Database& db, RegressionId id) {
  Statement find(
      db,
      "WITH RECURSIVE told (id) AS (SELECT ?1 UNION SELECT merged.id "
      "FROM told JOIN regression AS merged ON merged.merged_into = told.id) " REGRESSION_SELECT
      " WHERE id IN (SELECT id FROM told) AND id <> ?1 ORDER BY id");
  return read_all(find.bind(id), regression_reader(db));
}

std::vector<Regression> findings_of_history(const Database& db, SeriesId series) {
  Statement find(db, REGRESSION_SELECT " WHERE lead = ? AND found_by = 'history' ORDER BY id");
  return read_all(find.bind(series), regression_reader(db));
}

std::vector<CommitSha> blamed_commits(const Database& db) {
  Statement find(db, "SELECT DISTINCT commit_sha FROM regression_commit");
  return read_all(find, [](Statement& row) { return row.next<CommitSha>(); });
}

Page<Regression> list_regressions(const Database& db, const RegressionFilter& filter,
                                  const PageRequest& page) {
  return Query(REGRESSION_SELECT)
      .filter(db, filter)
      .page<Regression>(db, page, regression_reader(db));
}

}  // namespace nightjar::storage
