#include "service/engine/trust/replays.hpp"

#include <algorithm>

#include "bisect/replay.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/nights.hpp"
#include "storage/replays.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t kANight = 8;
constexpr int kBuilds = 30;  // whose runs are drawn from

// The night's series with the fewest replays so far.
std::vector<SeriesId> candidates(const storage::Database& db, const Night& night) {
  auto series = storage::series_of_night(db, night.id);
  std::erase_if(series, [](const Series& one) { return one.metric != "latency"; });
  auto counts = storage::count_replays(db);
  std::stable_sort(series.begin(), series.end(), [&](const Series& a, const Series& b) {
    return counts[a.id].cases < counts[b.id].cases;
  });
  std::vector<SeriesId> ids;
  for (std::size_t i = 0; i < std::min(series.size(), kANight); ++i) ids.push_back(series[i].id);
  return ids;
}

void replay_series(EngineContext& context, storage::Transaction& transaction, const Night& night,
                   SeriesId id) {
  const auto builds = runs_by_build(context.db, id, kBuilds);
  if (!bisect::can_replay(builds)) return;
  bisect::ReplayOptions options;
  options.planted = context.config.calibration.planted;
  options.seed =
      static_cast<std::uint64_t>(night.id.value) * 1'000'003 + static_cast<std::uint64_t>(id.value);
  bisect::SearchPolicy policy = context.config.search;
  policy.builds_at_once = 1;
  if (const auto series = storage::find_series(context.db, id))
    policy.threshold = search_threshold(context, *series);
  const bisect::Replay found = bisect::replay(builds, options, policy);
  storage::add_replay(
      transaction, {night.id, id, options.planted, found.outcome, found.runs, context.clock.now()});
}

}  // namespace

void replay_one(EngineContext& context) {
  if (context.config.calibration.share <= 0) return;
  const auto nights = storage::list_nights(context.db, {1, {}}).items;
  if (nights.empty() || nights.front().state != NightState::done) return;
  const Night& night = nights.front();
  if (!storage::replays_are_queued(context.db, night.id)) {
    storage::write(context.db, [&](storage::Transaction& transaction) {
      storage::queue_replays(transaction, night.id, candidates(context.db, night));
    });
  }
  const auto next = storage::next_replay(context.db, night.id);
  if (!next) return;
  storage::Transaction transaction(context.db);
  replay_series(context, transaction, night, *next);
  storage::dequeue_replay(transaction, night.id, *next);
  transaction.commit();
}

}  // namespace nightjar::service
