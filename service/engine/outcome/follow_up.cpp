#include "service/engine/outcome/follow_up.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "service/engine/verdict/affected_series.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/builds.hpp"
#include "storage/marks.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr int nights_looked_back_on = 60;
constexpr double rounding = 1e-9;  // of a level that is exactly where it was

// A series that the issue lists, and its level in each later night. If its variant is not that of
// the first series, its nights are named by those of the first, see name_by_commit.
struct Followed {
  const AffectedSeries& affected;
  Series series;
  double threshold;
  std::map<NightId, Level> later;

  double cost(const Level& level) const { return worsening(series, affected.before, level.value); }
};

std::vector<Followed> followed(const EngineView& view, const Regression& regression) {
  constexpr NightId ever{1ll << 60};
  std::vector<Followed> list;
  for (const AffectedSeries& affected : regression.series) {
    const auto series = storage::find_series(view.db, affected.series);
    const bool comparable =
        series &&
        bisect::judged_value(affected.before, bisect::policy_of_metric(series->metric)) > 0 &&
        storage::marked_until(view.db, *series) < regression.night;
    if (!comparable) continue;
    Followed one{affected, *series, learned_policy(view, *series).threshold, {}};
    for (const Level& level :
         storage::levels_before(view.db, series->id, ever, nights_looked_back_on))
      if (level.night > regression.night) one.later.emplace(level.night, level);
    list.push_back(std::move(one));
  }
  return list;
}

std::optional<CommitSha> commit_of(const EngineView& view, const Level& level) {
  const auto build = storage::find_build(view.db, level.build);
  return build ? build->commit : std::nullopt;
}

// Each variant has nights of its own. Those that measured the same commit are told as one: the
// night of the first series' variant. What that variant did not measure is left out.
void name_by_commit(const EngineView& view, std::vector<Followed>& all) {
  const auto is_other = [&](const Followed& one) {
    return one.series.variant != all.front().series.variant;
  };
  if (std::none_of(all.begin(), all.end(), is_other)) return;
  std::map<CommitSha, NightId> nights;
  for (const auto& [night, level] : all.front().later)
    if (const auto commit = commit_of(view, level)) nights.insert_or_assign(*commit, night);
  for (Followed& one : all) {
    if (!is_other(one)) continue;
    std::map<NightId, Level> named;
    for (const auto& [night, level] : one.later) {
      const auto commit = commit_of(view, level);
      const auto found = commit ? nights.find(*commit) : nights.end();
      if (found != nights.end()) named.insert_or_assign(found->second, level);
    }
    one.later = std::move(named);
  }
}

// Another regression of that night explains what got worse: its own issue says so.
bool is_explained(const EngineView& view, const Regression& regression, NightId night) {
  const auto others = storage::regressions_of_night(view.db, night);
  return std::any_of(others.begin(), others.end(), [&](const Regression& other) {
    return other.id != regression.id && other.state != RegressionState::dismissed &&
           std::any_of(regression.series.begin(), regression.series.end(),
                       [&](const AffectedSeries& ours) {
                         return ours.series == other.series.front().series;
                       });
  });
}

bool is_done(const EngineView& view, NightId id) {
  const auto night = storage::find_night(view.db, id);
  return night && night->state == NightState::done;
}

// The nights that measured every followed series and are over, oldest first.
std::vector<NightId> whole_nights(const EngineView& view, const std::vector<Followed>& all) {
  std::vector<NightId> nights;
  for (const auto& [night, level] : all.front().later) {
    const bool measured = std::all_of(all.begin(), all.end(), [&, id = night](const Followed& one) {
      const auto found = one.later.find(id);
      return found != one.later.end() &&
             (found->second.night == id || is_done(view, found->second.night));
    });
    if (measured && is_done(view, night)) nights.push_back(night);
  }
  return nights;
}

// The story so far, told again from the levels; nullopt unless the newest night adds to it.
std::optional<NightChange> newest_news(const EngineView& view, const Regression& regression,
                                       const std::vector<Followed>& all,
                                       const std::vector<NightId>& nights) {
  std::vector<LaterEffect> effects;
  for (const Followed& one : all)
    effects.push_back(
        {worsening(one.series, one.affected.before, one.affected.after), 1, one.threshold});
  std::optional<NightChange> change;
  for (const NightId night : nights) {
    for (std::size_t i = 0; i < all.size(); ++i)
      effects[i].now = all[i].cost(all[i].later.at(night));
    change = news(effects);
    if (!change) continue;
    for (LaterEffect& effect : effects) effect.told = effect.now;
    const bool explained = std::any_of(all.begin(), all.end(), [&](const Followed& one) {
      return is_explained(view, regression, one.later.at(night).night);
    });
    if (change == NightChange::grew && explained) change.reset();
  }
  return change;
}

NightComment comment_of(const EngineView& view, const Regression& regression,
                        const std::vector<Followed>& all, const Night& night, NightChange change) {
  NightComment comment;
  comment.fingerprint = regression.fingerprint;
  comment.date = to_date(night.started_at);
  comment.change = change;
  comment.nights_to_close = view.config.report.recovered_nights;
  if (const auto build = storage::find_build(view.db, *night.build)) {
    comment.version = build->version;
    comment.commit = build->commit;
  }
  std::vector<AffectedSeries> later;
  for (const Followed& one : all) {
    const double now = one.later.at(night.id).value,
                 ratio = ratio_of(one.series, one.affected.before, now);
    later.push_back({one.affected.series, one.affected.before, now, ratio, ratio, ratio});
  }
  comment.series = series_facts(view, later);
  return comment;
}

OutboxMessage message_of(const Regression& regression, const NightComment& comment, Time now) {
  OutboxMessage message;
  message.key = night_key(comment.fingerprint,
                          comment.version + "/change/" + std::to_string(regression.id.value));
  message.regression = regression.id;
  message.kind = OutboxKind::comment;
  message.body = render_night_comment(comment) + "\n" + marker_of(message.key) + "\n";
  message.created_at = now;
  return message;
}

}  // namespace

std::optional<OutboxMessage> later_news(const EngineView& view, const Regression& regression) {
  std::vector<Followed> all = followed(view, regression);
  if (all.empty()) return std::nullopt;
  name_by_commit(view, all);
  const std::vector<NightId> nights = whole_nights(view, all);
  const auto change = newest_news(view, regression, all, nights);
  if (!change) return std::nullopt;
  const auto night = storage::find_night(view.db, nights.back());
  if (!night || !night->build) return std::nullopt;
  const NightComment comment = comment_of(view, regression, all, *night, *change);
  OutboxMessage message = message_of(regression, comment, view.clock.now());
  const auto known = storage::messages_of(view.db, regression.id);
  const bool queued = std::any_of(known.begin(), known.end(),
                                  [&](const auto& one) { return one.key == message.key; });
  return queued ? std::nullopt : std::optional(std::move(message));
}

bool is_back(double cost, double threshold) {
  return cost <= 1 + threshold / 2;
}

std::optional<NightChange> news(std::span<const LaterEffect> effects) {
  const auto all_back = [&](double LaterEffect::*cost) {
    return std::all_of(effects.begin(), effects.end(),
                       [&](const LaterEffect& one) { return is_back(one.*cost, one.threshold); });
  };
  const auto any_moved = [&](double sign) {
    return std::any_of(effects.begin(), effects.end(), [&](const LaterEffect& one) {
      return sign * std::log(one.now / one.told) >= std::log1p(one.threshold) - rounding;
    });
  };
  if (all_back(&LaterEffect::now))
    return all_back(&LaterEffect::told) ? std::nullopt : std::optional(NightChange::back);
  if (any_moved(1)) return NightChange::grew;
  // Between the threshold and back, one night's noise decides: the next one may say more.
  const bool remains = std::any_of(effects.begin(), effects.end(), [](const LaterEffect& one) {
    return one.now >= 1 + one.threshold - rounding;
  });
  if (any_moved(-1) && remains) return NightChange::shrank;
  return std::nullopt;
}

bool follow_reported(EngineContext& context) {
  const auto follow = [&](const Regression& regression) {
    const auto message = later_news(context, regression);
    if (!message) return false;
    storage::write(context.db, [&](storage::Transaction& transaction) {
      storage::add_message(transaction, *message);
    });
    return true;
  };
  return for_each_item(context, "follow-up of regression",
                       storage::regressions_in_state(context.db, RegressionState::reported),
                       follow);
}

}  // namespace nightjar::service
