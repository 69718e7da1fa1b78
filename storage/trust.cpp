#include "storage/trust.hpp"

#include <map>

#include "storage/model/lifecycle.hpp"
#include "storage/paging.hpp"
#include "storage/text_map.hpp"

namespace nightjar::storage {
namespace {

using FindingsByGroup = std::map<std::pair<MachineId, std::string>, ConfirmedFindings>;

// Adds the rows of "machine, metric, count, of which `part`".
void add(FindingsByGroup& all, Statement& find, int ConfirmedFindings::*part) {
  while (find.step()) {
    const auto machine = find.next<MachineId>();
    const auto metric = find.next<std::string>();
    ConfirmedFindings& found = all[{machine, metric}];
    found.machine = machine;
    found.metric = metric;
    found.confirmed += find.next<int>();
    const int of_them = find.next<int>();
    if (part) found.*part += of_them;
  }
}

}  // namespace

void count_judged(Transaction& transaction, const Judged& night) {
  const auto& smallest = night.smallest;
  const auto number = [&](double SmallestSeen::*member) {
    return smallest ? std::optional((*smallest).*member) : std::nullopt;
  };
  Statement(transaction,
            "INSERT INTO judged (machine, metric, since_us, nights, series_nights, suspicions, "
            "dismissed, noise_series, smallest, smallest_low, smallest_high) "
            "VALUES (?, ?, ?, 1, ?, ?, 0, ?, ?, ?, ?) ON CONFLICT (machine, metric) DO UPDATE SET "
            "nights = nights + 1, series_nights = series_nights + excluded.series_nights, "
            "suspicions = suspicions + excluded.suspicions, noise_series = excluded.noise_series, "
            "smallest = excluded.smallest, smallest_low = excluded.smallest_low, "
            "smallest_high = excluded.smallest_high")
      .bind(night.machine, night.metric, night.since, night.series_nights, night.suspicions,
            smallest ? smallest->series : 0, number(&SmallestSeen::change),
            number(&SmallestSeen::low), number(&SmallestSeen::high))
      .run();
}

void count_dismissed(Transaction& transaction, SeriesId lead, Time opened) {
  Statement(transaction,
            "UPDATE judged SET dismissed = dismissed + 1 WHERE (machine, metric) = "
            "(SELECT machine, metric FROM series WHERE id = ?) AND since_us <= ?")
      .bind(lead, opened)
      .run();
}

std::vector<Judged> judged_so_far(const Database& db) {
  Statement find(db,
                 "SELECT machine, metric, since_us, nights, series_nights, suspicions, dismissed, "
                 "noise_series, smallest, smallest_low, smallest_high FROM judged "
                 "ORDER BY machine, metric");
  return read_all(find, [](Statement& row) {
    Judged found{row.next<MachineId>(),    row.next<std::string>(),
                 row.next<Time>(),         row.next<int>(),
                 row.next<std::int64_t>(), row.next<std::int64_t>(),
                 row.next<std::int64_t>(), std::nullopt};
    const SmallestSeen smallest{row.next<int>(), row.next<double>(), row.next<double>(),
                                row.next<double>()};
    if (smallest.series > 0) found.smallest = smallest;
    return found;
  });
}

std::vector<ConfirmedFindings> confirmed_findings(const Database& db) {
  FindingsByGroup all;
  // What a search finds besides was never a suspicion.
#define NIGHTJAR_COUNTED                                                              \
  "JOIN series ON series.id = regression.lead "                                       \
  "JOIN judged ON judged.machine = series.machine AND judged.metric = series.metric " \
  "WHERE regression.found_by IN ('screening', 'creep') "                              \
  "AND regression.opened_at_us >= judged.since_us "
  std::vector<std::string> real;
  for (const RegressionState state : states_where([](const auto& row) { return row.is_real; }))
    real.emplace_back(name_of(state));
  Statement standing(
      db, "SELECT series.machine, series.metric, count(*), 0 FROM regression " NIGHTJAR_COUNTED
          "AND regression.state IN (SELECT value FROM json_each(?)) "
          "GROUP BY series.machine, series.metric");
  const std::string states = to_text(real);  // bound as it is, without a copy
  standing.bind(states);
  add(all, standing, nullptr);
  Statement searched(db,
                     "SELECT series.machine, series.metric, count(*), count(*) FROM bisection "
                     "JOIN regression ON regression.id = bisection.regression " NIGHTJAR_COUNTED
                     "AND bisection.state = 'not_reproduced' AND regression.state = 'dismissed' "
                     "GROUP BY series.machine, series.metric");
  add(all, searched, &ConfirmedFindings::not_reproduced);
  Statement ruled(db,
                  "SELECT series.machine, series.metric, count(*), "
                  "sum(ruling.kind = 'no_regression') FROM ruling "
                  "JOIN regression ON regression.id = ruling.regression " NIGHTJAR_COUNTED
                  "AND ruling.kind IN ('no_regression', 'meant') AND ruling.confirmed = 1 "
                  "AND regression.state = 'dismissed' GROUP BY series.machine, series.metric");
  add(all, ruled, &ConfirmedFindings::no_regression);
#undef NIGHTJAR_COUNTED
  std::vector<ConfirmedFindings> list;
  for (auto& [group, found] : all) list.push_back(std::move(found));
  return list;
}

void set_ruling(Transaction& transaction, const Ruling& ruling) {
  Statement(transaction,
            "INSERT INTO ruling (regression, kind, confirmed, commit_sha, at_us) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (regression) DO UPDATE SET kind = excluded.kind, "
            "confirmed = excluded.confirmed, commit_sha = excluded.commit_sha, "
            "at_us = excluded.at_us")
      .bind(ruling.regression, ruling.kind, ruling.confirmed, ruling.commit, ruling.at)
      .run();
}

std::vector<KnownCases> known_cases(const Database& db) {
  Statement find(db,
                 "SELECT series.machine, series.metric, planted, count(*), sum(verdict = 'worse') "
                 "FROM calibration JOIN series ON series.id = calibration.series "
                 "WHERE calibration.id > (SELECT coalesce(max(id), 0) - 20000 FROM calibration) "
                 "GROUP BY series.machine, series.metric, planted");
  return read_all(find, [](Statement& row) -> KnownCases {
    return {row.next<MachineId>(), row.next<std::string>(), row.next<double>(), row.next<int>(),
            row.next<int>()};
  });
}

ReplayPredictions predictions_of_replays(const Database& db) {
  ReplayPredictions all;
  Statement find(db,
                 "SELECT named, probability, was_right FROM replay_prediction "
                 "ORDER BY replay DESC, number DESC LIMIT 5000");
  while (find.step()) {
    auto& list = find.next<bool>() ? all.named : all.suspected;
    const auto probability = find.next<double>();
    list.push_back({probability, find.next<bool>()});
  }
  return all;
}

std::vector<Prediction> predictions_with_ruling(const Database& db) {
  Statement find(
      db,
      "SELECT regression.culprit_probability, ruling.kind = 'cause' AND EXISTS (SELECT 1 FROM "
      "regression_commit AS named WHERE named.regression = regression.id "
      "AND named.commit_sha = ruling.commit_sha) "
      "FROM ruling JOIN regression ON regression.id = ruling.regression "
      "WHERE regression.culprit_probability IS NOT NULL AND regression.is_range = 0 "
      "AND (ruling.kind = 'no_regression' OR ruling.commit_sha IS NOT NULL) "
      "ORDER BY ruling.regression DESC LIMIT 5000");
  return read_all(find, [](Statement& row) -> Prediction {
    const auto probability = row.next<double>();
    return {probability, row.next<bool>()};
  });
}

}  // namespace nightjar::storage
