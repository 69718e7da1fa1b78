#include "service/engine/outcome/repairs.hpp"

#include <algorithm>

#include "service/engine/outcome/follow_up.hpp"
#include "service/engine/outcome/report_facts.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/search/fix_searches.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/builds.hpp"
#include "storage/fixes.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr int levels_looked_at = 400;
constexpr NightId after_all{1ll << 60};

}  // namespace

Repairers repairers_of(const EngineView& view, const Regression& regression, BuildId last_bad,
                       const Build& good_again) {
  const auto search = storage::fix_search_of(view.db, good_again.id, regression.machine);
  const auto is_measured = [&](const AffectedSeries& one) { return one.series == search->series; };
  const bool is_of_it =
      search && std::any_of(regression.series.begin(), regression.series.end(), is_measured);
  const auto named = is_of_it ? named_by(*search) : std::vector<NamedCause>();
  if (named.size() != 1) return {commits_between(view, last_bad, good_again), {}, 0};
  Repairers by{{}, search->id, named.front().commits.probability};
  for (const CommitSha& sha : named.front().commits.commits)
    by.commits.push_back(commit_facts(view, sha));
  return by;
}

std::optional<Repair> repair_of(const EngineView& view, const Regression& regression) {
  const AffectedSeries& lead = regression.series.front();
  const auto series = storage::find_series(view.db, lead.series);
  if (!series) return std::nullopt;
  const double threshold = policy_of(*series, view.config).threshold;
  auto levels = storage::levels_before(view.db, lead.series, after_all, levels_looked_at);
  std::reverse(levels.begin(), levels.end());
  const auto back = std::find_if(levels.begin(), levels.end(), [&](const Level& level) {
    return regression.night < level.night &&
           is_back(worsening(*series, lead.before, level.value), threshold);
  });
  if (back == levels.end()) return std::nullopt;
  const bool was_bad = back != levels.begin() && regression.night < std::prev(back)->night;
  const BuildId last_bad = was_bad ? std::prev(back)->build : regression.bad;
  const auto build = storage::find_build(view.db, back->build);
  return Repair{regression.id, back->build, repairers_of(view, regression, last_bad, *build)};
}

std::optional<RegressionId> repaired_by(const EngineView& view,
                                        const storage::Improvement& improvement,
                                        const std::vector<RegressionId>& findings) {
  std::optional<Regression> last;  // before it
  for (const RegressionId id : findings) {
    auto finding = storage::find_regression(view.db, id);
    if (!finding || finding->night >= improvement.night) continue;
    if (!last || last->night <= finding->night) last = std::move(finding);
  }
  const auto series = storage::find_series(view.db, improvement.series);
  if (!last || !series) return std::nullopt;
  const auto shown =
      std::find_if(last->series.begin(), last->series.end(),
                   [&](const AffectedSeries& one) { return one.series == improvement.series; });
  if (shown == last->series.end()) return std::nullopt;
  const double threshold = policy_of(*series, view.config).threshold;
  for (const storage::Improvement& one : storage::improvements_of(view.db, improvement.series))
    if (last->night < one.night && is_back(worsening(*series, shown->before, one.after), threshold))
      return one.id == improvement.id ? std::optional(last->id) : std::nullopt;
  return std::nullopt;
}

}  // namespace nightjar::service
