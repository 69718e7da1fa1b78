#include "service/engine/search/widening.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "bisect/evidence/evidence.hpp"
#include "service/builds/needs.hpp"
#include "service/builds/overlay.hpp"
#include "service/report/quantity.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t most_commits = 500;  // in the range of one search

bool is_wheel(const Build& build) {
  return build.kind != BuildKind::overlay && build.kind != BuildKind::crossed;
}

// Proved nightlies of the wheel's variant from the days before it, newest first.
std::vector<Build> older_nightlies(const EngineView& view, const Build& wheel) {
  std::string date = wheel.date;
  if (const auto commit = date.empty() ? view.graph.find(*wheel.commit) : std::nullopt)
    date = to_date(commit->committed_at);
  std::vector<Build> older = storage::proved_wheels(view.db, wheel.variant);
  std::erase_if(older, [&](const Build& build) {
    return build.kind != BuildKind::nightly || !build.commit || build.date >= date;
  });
  std::sort(older.begin(), older.end(),
            [](const Build& a, const Build& b) { return a.date > b.date; });
  return older;
}

std::optional<Build> wheel_of_commit(const EngineView& view, const CommitSha& commit,
                                     const std::string& variant) {
  for (const Build& build : storage::builds_of_commit(view.db, commit))
    if (is_wheel(build) && build.variant == variant && build.state == BuildState::proved)
      return build;
  return std::nullopt;
}

std::optional<Build> asked_wheel(const EngineView& view, const WideningAsked& asked,
                                 const std::vector<Build>& older, const std::string& variant) {
  if (asked.build) return storage::find_build(view.db, *asked.build);
  if (asked.commit) return wheel_of_commit(view, *asked.commit, variant);
  if (asked.nightlies && std::cmp_less_equal(*asked.nightlies, older.size()))
    return older.at(static_cast<std::size_t>(*asked.nightlies) - 1);
  return std::nullopt;
}

std::optional<std::string> why_unfit(const EngineView& view, const Regression& regression,
                                     const Build& wheel, const Build& good) {
  if (!is_wheel(wheel) || wheel.state != BuildState::proved || !wheel.commit)
    return "it is no proved wheel";
  if (wheel.variant != good.variant) return "it is of variant " + wheel.variant;
  if (wheel.lock && !good.lock)
    return "it is installed with locked packages, and the present good end is not";
  const auto machine = storage::find_machine(view.db, regression.machine);
  const auto reason = machine ? cannot_run(wheel.needs, machine->facts) : std::nullopt;
  if (reason) return "it cannot run on the machine class: " + *reason;
  return std::nullopt;
}

// `good`: the present good end, as it is measured.
WiderEnd load_end(const EngineView& view, const Regression& regression, const Bisection& search,
                  const Build& good, const Build& wheel) {
  WiderEnd end{wheel, wheel, {}, why_unfit(view, regression, wheel, good)};
  if (end.unfit) return end;
  if (good.lock && wheel.lock != good.lock) {
    const auto stored = storage::crossed_build(view.db, wheel.id, *good.lock);
    end.measured = stored ? *stored : cross(wheel, *good.lock, view.clock);
  }
  const auto range = view.graph.range(*wheel.commit, search.commits.front());
  if (!range || range->empty()) return end;
  end.commits.emplace().push_back(*wheel.commit);
  for (auto commit = range->begin(); commit + 1 != range->end(); ++commit)
    end.commits->push_back(commit->sha);
  return end;
}

SearchLimits limits_from_now(const SearchLimits& present, const Bisection& search,
                             const WideningAsked& asked, const Config& config, Time now) {
  const int spent = clamped_integer<int>(std::ceil(search.spent_seconds / 60), 0);
  const int more = asked.more_minutes.value_or(static_cast<int>(config.search_minutes.count()));
  SearchLimits limits = present;
  if (asked.threshold) limits.own_threshold = asked.threshold;
  limits.threshold = limits.own_threshold.value_or(present.threshold);
  limits.max_runs = search.runs + asked.more_runs.value_or(config.search.max_runs);
  limits.minutes = std::chrono::minutes(spent + more);
  limits.widened_at = now;
  return limits;
}

// What a machine failed at is tried again.
std::vector<Untestable> without_failures_of_machines(std::vector<Untestable> all) {
  std::erase_if(all,
                [](const Untestable& one) { return one.cause == UntestableCause::infrastructure; });
  return all;
}

std::optional<SearchFacts> load_trial(const EngineView& view, const Bisection& search,
                                      const SearchLimits& limits) {
  auto trial = load_search(view, search, limits);
  if (!trial) return std::nullopt;
  std::erase_if(trial->log.untestable, [&](int commit) {
    return trial->progress.causes.at(commit) == UntestableCause::infrastructure;
  });
  return trial;
}

std::optional<std::string> why_not_in(const Regression& regression,
                                      const std::optional<Bisection>& search) {
  using enum RegressionState;
  const RegressionState state = regression.state;
  if (state == suspected || state == unconfirmed || state == confirmed)
    return "its search has not begun.";
  if (state == merged)
    return "the search of the regression that it was merged into can be widened.";
  if (state == historical) return "what an imported history shows is not searched.";
  const bool not_reproduced = search && search->state == BisectionState::not_reproduced;
  if (state == recovered || (state == dismissed && !not_reproduced)) return "it is over.";
  if (!search && regression.part > 0)
    return "the search of another regression found it, and that one can be widened.";
  if (!search) return "no commits were searched; its history says why.";
  if (search->state == BisectionState::open) return "its search is under way.";
  if (search->state == BisectionState::culprit)
    return "its search named commits. If they are the wrong ones, say the cause.";
  return std::nullopt;
}

// What is wrong with the good end that was asked for.
std::optional<CannotWiden> why_not_from(const WideningFacts& facts, const WideningAsked& asked) {
  if (asked.nightlies.has_value() + asked.build.has_value() + asked.commit.has_value() > 1)
    return CannotWiden{"The good end is given by nightlies, build or commit, not by two of them.",
                       asked.build ? "build" : "commit"};
  const std::string before = facts.variant + " before " + facts.good;
  if (asked.nightlies && !facts.end)
    return CannotWiden{
        facts.older == 0 ? "There is no older build: no nightly of variant " + before + " is known."
                         : "There are too few older builds: nightlies of variant " + before +
                               " that are known: " + std::to_string(facts.older) + ".",
        "nightlies"};
  if (asked.build && !facts.end)
    return CannotWiden{"There is no build " + std::to_string(asked.build->value) +
                           "; /api/v1/builds shows those there are.",
                       "build"};
  if (asked.commit && !facts.end)
    return CannotWiden{"No wheel of commit " + asked.commit->str() + " of variant " +
                           facts.variant + " is known; name a build, or a number of nightlies.",
                       "commit"};
  if (!facts.end) return std::nullopt;
  const std::string field = asked.nightlies ? "nightlies" : asked.build ? "build" : "commit";
  const std::string& version = facts.end->wheel.version;
  if (facts.end->unfit)
    return CannotWiden{"The search cannot begin at " + version + ": " + *facts.end->unfit + ".",
                       field};
  if (!facts.end->commits)
    return CannotWiden{"The commit of " + version + " does not precede that of " + facts.good +
                           ", the present good end, on the main branch.",
                       field};
  if (facts.end->commits->size() + facts.search->commits.size() > most_commits)
    return CannotWiden{"From " + version + " on there are more than " +
                           std::to_string(most_commits) +
                           " commits, the most that one search takes.",
                       field};
  return std::nullopt;
}

bool names_somebody(const bisect::Answer& answer) {
  return answer.outcome == bisect::SearchOutcome::culprit ||
         answer.outcome == bisect::SearchOutcome::several_small;
}

// Why it would end as before at once; nullopt: it would measure more, or say something new.
std::optional<std::string> same_answer(const WideningFacts& facts, const WideningAsked& asked) {
  const auto step = facts.trial ? decide(*facts.trial) : std::nullopt;
  if (!step) return std::nullopt;
  if (const auto* end = std::get_if<GiveUp>(&step->step)) return end->reason + ".";
  const auto* end = std::get_if<Conclude>(&step->step);
  if (!end) return std::nullopt;
  const bool was_range = facts.search->state == BisectionState::range && !asked.threshold;
  if (names_somebody(end->answer) && !was_range) return std::nullopt;
  return "what was measured gives this answer, whatever more may be spent: " + end->answer.rule +
         ". Give an older good end, or a smaller threshold.";
}

storage::Widening record_of(const Bisection& search, const WideningAsked& asked,
                            const SearchLimits& limits, Time now) {
  storage::Widening widening;
  widening.bisection = search.id;
  widening.at = now;
  widening.actor = asked.actor;
  widening.reason = asked.reason;
  widening.outcome = search.state;
  widening.good = search.good;
  widening.posterior = evidence::posterior_json(search.posterior, search.commits);
  widening.runs = search.runs;
  widening.sessions = search.sessions;
  widening.spent_seconds = search.spent_seconds;
  widening.finished_at = search.finished_at.value_or(now);
  widening.max_runs = limits.max_runs;
  widening.max_minutes = static_cast<int>(limits.minutes.count());
  widening.threshold = limits.own_threshold;
  return widening;
}

// The commits so far keep their order, behind those that are new.
void begin_at(const WiderEnd& end, Widen& step) {
  std::vector<CommitSha>& commits = step.search.commits;
  commits.insert(commits.begin(), end.commits->begin(), end.commits->end());
  step.search.good = end.measured.id;
  if (!end.measured.id) step.crossed = end.measured;
  for (Untestable& one : step.untestable) one.commit += static_cast<int>(end.commits->size());
}

std::string sentence_of(const WideningFacts& facts, const WideningAsked& asked, const Widen& step) {
  const std::string range = facts.end
                                ? "from " + facts.end->wheel.version + " on, " +
                                      std::to_string(facts.end->commits->size()) + " commits more"
                                : "in the same range";
  return "the search goes on " + range + ", with at most " +
         std::to_string(step.widening.max_runs) + " runs and " +
         std::to_string(step.widening.max_minutes) + " minutes of measuring, asked for by " +
         asked.actor + ": " + asked.reason;
}

}  // namespace

WideningFacts load_widening(const EngineView& view, const Regression& regression,
                            const WideningAsked& asked) {
  WideningFacts facts{
      regression, storage::bisection_of(view.db, regression.id), {}, {}, 0, {}, {}, {}, {}};
  if (why_not_in(regression, facts.search)) return facts;
  const Bisection& search = *facts.search;
  const auto series = storage::find_series(view.db, search.series);
  const auto good = storage::find_build(view.db, search.good);
  if (!series || !good) throw std::runtime_error("a search without its series or its good end");
  const Build present = is_wheel(*good) ? *good : storage::find_build(view.db, *good->base).value();
  const std::vector<Build> older = older_nightlies(view, present);
  facts.good = present.version;
  facts.variant = present.variant;
  facts.older = static_cast<int>(older.size());
  facts.limits = limits_of(view, search, *series);
  facts.untestable = storage::untestable_of(view.db, search.id);
  const auto wheel = asked_wheel(view, asked, older, present.variant);
  if (wheel) facts.end = load_end(view, regression, search, *good, *wheel);
  if (!asked.nightlies && !asked.build && !asked.commit)
    facts.trial = load_trial(
        view, search, limits_from_now(facts.limits, search, asked, view.config, view.clock.now()));
  return facts;
}

std::variant<CannotWiden, Widen> decide(const WideningFacts& facts, const WideningAsked& asked,
                                        const Config& config, Time now) {
  if (auto reason = why_not_in(facts.regression, facts.search)) return CannotWiden{*reason};
  if (auto wrong = why_not_from(facts, asked)) return *std::move(wrong);
  if (asked.threshold && *asked.threshold >= facts.limits.threshold)
    return CannotWiden{"The search blames for smaller changes already: its threshold is " +
                           change(1 + facts.limits.threshold) + ".",
                       "threshold"};
  if (auto reason = same_answer(facts, asked)) return CannotWiden{*std::move(reason)};
  const SearchLimits limits = limits_from_now(facts.limits, *facts.search, asked, config, now);
  Widen step{facts.regression,
             *facts.search,
             {},
             record_of(*facts.search, asked, limits, now),
             without_failures_of_machines(facts.untestable),
             {}};
  step.search.state = BisectionState::open;
  step.search.finished_at.reset();
  step.search.outcome.reset();
  step.search.posterior.clear();
  step.search.found.clear();
  if (facts.end) begin_at(*facts.end, step);
  step.reason = sentence_of(facts, asked, step);
  return step;
}

void apply(storage::Transaction& transaction, const Widen& step) {
  Bisection search = step.search;
  if (step.crossed) search.good = storage::add_build(transaction, *step.crossed).id;
  storage::update_bisection(transaction, search);
  for (const Untestable& old : storage::untestable_of(transaction, search.id))
    storage::remove_untestable(transaction, search.id, old.commit);
  for (const Untestable& commit : step.untestable)
    storage::add_untestable(transaction, search.id, commit);
  storage::add_widening(transaction, step.widening);
  storage::change_regression(
      transaction, step.regression,
      {RegressionState::bisecting, step.widening.at, evidence::of_reason(step.reason)});
}

}  // namespace nightjar::service
