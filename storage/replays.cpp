#include "storage/replays.hpp"

#include "storage/paging.hpp"

namespace nightjar::storage {

bool replays_are_queued(const Database& db, NightId night) {
  Statement find(db, "SELECT replays_queued FROM night WHERE id = ?");
  return find.bind(night).step() && find.next<bool>();
}

void queue_replays(Transaction& transaction, NightId night, const std::vector<SeriesId>& series) {
  Statement(transaction, "DELETE FROM replay_queue WHERE night < ?").bind(night).run();
  Statement(transaction, "UPDATE night SET replays_queued = 1 WHERE id = ?").bind(night).run();
  Statement insert(transaction, "INSERT INTO replay_queue (night, series) VALUES (?, ?)");
  for (const SeriesId one : series) insert.bind(night, one).run();
}

std::optional<SeriesId> next_replay(const Database& db, NightId night) {
  Statement find(db, "SELECT series FROM replay_queue WHERE night = ? ORDER BY id LIMIT 1");
  return read_one(find.bind(night), [](Statement& row) { return row.next<SeriesId>(); });
}

void dequeue_replay(Transaction& transaction, NightId night, SeriesId series) {
  Statement(transaction, "DELETE FROM replay_queue WHERE night = ? AND series = ?")
      .bind(night, series)
      .run();
}

void add_replay(Transaction& transaction, const ReplayedSearch& found) {
  Statement add(
      transaction,
      "INSERT INTO replay (night, series, planted, outcome, runs, at_us) VALUES (?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (night, series) DO NOTHING");
  add.bind(found.night, found.series, found.planted, found.outcome, found.runs, found.at).run();
  if (add.changes() == 0) return;
  const std::int64_t replay = add.inserted_id();
  Statement insert(transaction,
                   "INSERT INTO replay_prediction (replay, number, named, probability, was_right) "
                   "VALUES (?, ?, ?, ?, ?)");
  int number = 0;
  const auto insert_all = [&](const std::vector<Prediction>& predictions, bool named) {
    for (const Prediction& one : predictions)
      insert.bind(replay, number++, named, one.probability, one.right).run();
  };
  insert_all(found.named, true);
  insert_all(found.suspected, false);
}

std::map<SeriesId, ReplayCount> count_replays(const Database& db) {
  std::map<SeriesId, ReplayCount> counts;
  Statement find(db,
                 "SELECT series, count(*), sum(outcome = 'exact'), sum(outcome = 'innocent') "
                 "FROM replay GROUP BY series");
  while (find.step()) {
    const auto series = find.next<SeriesId>();
    counts[series] = {find.next<int>(), find.next<int>(), find.next<int>()};
  }
  return counts;
}

}  // namespace nightjar::storage
