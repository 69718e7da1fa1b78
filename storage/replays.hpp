// Searches over recorded runs with a planted step: those that are still to be made, and what they
// found.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/replay.hpp"
#include "storage/model/series.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// One search over recorded runs of a series, with a step planted at one commit.
struct ReplayedSearch {
  NightId night;
  SeriesId series;
  double planted = 0;
  ReplayOutcome outcome = ReplayOutcome::nobody;
  int runs = 0;
  Time at{};
  std::vector<Prediction> named = {}, suspected = {};  // see bisect::Replay
};

namespace storage {

// Whether queue_replays was called for this night.
bool replays_are_queued(const Database& db, NightId night);
// Replaces what earlier nights left in the queue.
void queue_replays(Transaction& transaction, NightId night, const std::vector<SeriesId>& series);
std::optional<SeriesId> next_replay(const Database& db, NightId night);
void dequeue_replay(Transaction& transaction, NightId night, SeriesId series);

void add_replay(Transaction& transaction, const ReplayedSearch& found);  // once a night and series
struct ReplayCount {
  int cases = 0, exact = 0, innocent = 0;
};
std::map<SeriesId, ReplayCount> count_replays(const Database& db);

}  // namespace storage
}  // namespace nightjar
