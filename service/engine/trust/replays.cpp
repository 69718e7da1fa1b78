#include "service/engine/trust/replays.hpp"

#include <algorithm>

#include "bisect/replay.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/nights.hpp"
#include "storage/replays.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t a_night = 8;
constexpr int drawn_builds = 30;  // whose runs are drawn from

// The night's series with the fewest replays so far.
std::vector<SeriesId> candidates(const storage::Database& db, const Night& night) {
  auto series = storage::series_of_night(db, night.id);
  std::erase_if(series, [](const Series& one) { return one.metric != "latency"; });
  auto counts = storage::count_replays(db);
  std::stable_sort(series.begin(), series.end(), [&](const Series& a, const Series& b) {
    return counts[a.id].cases < counts[b.id].cases;
  });
  std::vector<SeriesId> ids;
  for (std::size_t i = 0; i < std::min(series.size(), a_night); ++i) ids.push_back(series[i].id);
  return ids;
}

}  // namespace

ReplayFacts load_replay(const EngineView& view) {
  ReplayFacts facts;
  facts.now = view.clock.now();
  if (view.config.calibration.share <= 0) return facts;
  const auto newest = storage::newest_measured_night(view.db);
  if (!newest || newest->state != NightState::done) return facts;
  facts.night = newest->id;
  if (!storage::replays_are_queued(view.db, *facts.night)) {
    facts.to_queue = candidates(view.db, *newest);
    return facts;
  }
  facts.next = storage::next_replay(view.db, *facts.night);
  if (!facts.next) return facts;
  facts.builds = runs_by_build(view.db, *facts.next, drawn_builds);
  facts.policy = view.config.search;
  facts.policy.builds_at_once = 1;
  if (const auto series = storage::find_series(view.db, *facts.next)) {
    facts.policy.threshold = search_threshold(view, *series);
    const auto policy = bisect::policy_of_metric(series->metric, facts.policy.threshold);
    for (std::vector<double>& runs : facts.builds)
      for (double& value : runs) value = bisect::cost_of(value, policy);
  }
  return facts;
}

std::optional<ReplayedSearch> replay(const ReplayFacts& facts, const Config& config) {
  if (!facts.next || !bisect::can_replay(facts.builds)) return std::nullopt;
  bisect::ReplayOptions options;
  options.planted = config.calibration.planted;
  options.seed = static_cast<std::uint64_t>(facts.night->value) * 1'000'003 +
                 static_cast<std::uint64_t>(facts.next->value);
  bisect::Replay found = bisect::replay(facts.builds, options, facts.policy);
  return ReplayedSearch{
      *facts.night, *facts.next, options.planted,        found.outcome,
      found.runs,   facts.now,   std::move(found.named), std::move(found.suspected)};
}

void replay_one(EngineContext& context) {
  const ReplayFacts facts = load_replay(context);
  if (!facts.to_queue && !facts.next) return;
  const auto found = replay(facts, context.config);
  storage::Transaction transaction(context.db);
  if (facts.to_queue) storage::queue_replays(transaction, *facts.night, *facts.to_queue);
  if (found) storage::add_replay(transaction, *found);
  if (facts.next) storage::dequeue_replay(transaction, *facts.night, *facts.next);
  transaction.commit();
}

}  // namespace nightjar::service
