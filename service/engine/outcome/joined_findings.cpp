#include "service/engine/outcome/joined_findings.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>

#include "service/engine/outcome/report_facts.hpp"
#include "service/engine/outcome/unattributed.hpp"
#include "service/engine/verdict/affected_series.hpp"
#include "service/engine/verdict/extent.hpp"
#include "storage/affected_classes.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/untold_findings.hpp"

namespace nightjar::service {
namespace {
using enum RegressionState;

std::string date_of(const EngineView& view, NightId id) {
  const auto night = storage::find_night(view.db, id);
  return night ? to_date(night->started_at) : std::string();
}

// Each variant has a night of its own; those of one date may show the same cause.
bool may_grow(const EngineView& view, const JoinedFacts& facts) {
  std::set<std::string> dates;
  for (const Regression& finding : facts.findings) dates.insert(date_of(view, finding.night));
  for (const Night& night : storage::open_nights(view.db))
    if (night.state != NightState::waiting && dates.contains(to_date(night.started_at)))
      return true;
  for (const RegressionState state : {suspected, confirmed, bisecting})
    for (const Regression& open : storage::regressions_in_state(view.db, state))
      if (open.id == facts.cause.id || dates.contains(date_of(view, open.night))) return true;
  return false;
}

bool is_named_by_report(const Regression& cause) {
  return cause.state == blamed || cause.state == range || cause.state == unattributed;
}

// Findings that a comment tells together: all with a named cause, else those with the same reason
// between the same builds.
struct Group {
  std::tuple<BuildId, BuildId, std::string> why;
  std::vector<Regression> findings;
};

std::vector<Group> groups_of(const EngineView& view, const JoinedFacts& facts) {
  std::vector<Group> groups;
  for (const Regression& finding : facts.findings) {
    Group one;
    if (!finding.culprit && !finding.range)
      one.why = {finding.good, finding.bad, why_unattributed(view.db, finding.id)};
    auto known = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& group) { return group.why == one.why; });
    if (known == groups.end()) known = groups.insert(known, std::move(one));
    known->findings.push_back(finding);
  }
  return groups;
}

// With what was merged into each of them before.
std::vector<Regression> with_merged(const EngineView& view, const std::vector<Regression>& list) {
  std::vector<Regression> all = list;
  for (const Regression& one : list)
    for (Regression& merged : storage::merged_into(view.db, one.id))
      all.push_back(std::move(merged));
  return all;
}

// All that the issue has heard of.
std::vector<Regression> told_findings(const EngineView& view, const JoinedFacts& facts) {
  std::set<RegressionId> untold;
  for (const Regression& one : with_merged(view, facts.findings)) untold.insert(one.id);
  std::vector<Regression> told = with_merged(view, {facts.cause});
  std::erase_if(told, [&](const Regression& one) { return untold.contains(one.id); });
  return told;
}

JoinedGroup group_facts(const EngineView& view, const Regression& cause, const Group& group,
                        const std::vector<Regression>& told) {
  JoinedGroup facts;
  facts.unattributed = std::get<std::string>(group.why);
  facts.findings = static_cast<int>(group.findings.size());
  facts.date = date_of(view, group.findings.back().night);
  std::vector<AffectedSeries> series;
  std::set<SeriesId> known;
  for (const Regression& finding : group.findings) {
    const std::string version = version_of(view, finding.bad);
    if (std::find(facts.versions.begin(), facts.versions.end(), version) == facts.versions.end())
      facts.versions.push_back(version);
    for (const AffectedSeries& one : finding.series)
      if (known.insert(one.series).second) series.push_back(one);
  }
  facts.series = series_facts(view, series, cause.machine);
  facts.beside = worse_beside(view, cause, told, with_merged(view, group.findings));
  if (!facts.unattributed.empty()) facts.pins = pins_of(view, group.findings.front());
  return facts;
}

std::string class_with_gpu(const EngineView& view, MachineId id) {
  const auto machine = storage::find_machine(view.db, id);
  const std::string gpu = machine ? gpu_models(machine->facts) : std::string();
  return class_name(view, id) + (gpu.empty() ? "" : " with " + gpu);
}

std::vector<std::string> new_classes(const EngineView& view, const JoinedFacts& facts,
                                     const std::vector<Regression>& told) {
  std::set<MachineId> known;
  for (const Regression& one : told) known.insert(one.machine);
  std::vector<std::string> names;
  for (const Regression& one : with_merged(view, facts.findings))
    if (known.insert(one.machine).second) names.push_back(class_with_gpu(view, one.machine));
  return names;
}

JoinedComment comment_of(const EngineView& view, const JoinedFacts& facts) {
  JoinedComment comment;
  comment.repository = view.config.repository.url;
  std::vector<Regression> told = told_findings(view, facts);
  comment.new_classes = new_classes(view, facts, told);
  for (const Group& group : groups_of(view, facts)) {
    comment.groups.push_back(group_facts(view, facts.cause, group, told));
    for (Regression& one : with_merged(view, group.findings)) told.push_back(std::move(one));
  }
  return comment;
}

bool apply(EngineContext&, const UntoldCause&, const AwaitFindings&) {
  return false;
}

void forget(storage::Transaction& transaction, const UntoldCause& untold) {
  for (const RegressionId finding : untold.findings) storage::remove_untold(transaction, finding);
}

bool apply(EngineContext& context, const UntoldCause& untold, const NamedByReport&) {
  storage::write(context.db,
                 [&](storage::Transaction& transaction) { forget(transaction, untold); });
  return true;
}

bool apply(EngineContext& context, const UntoldCause& untold, const TellFindings& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::add_message(transaction, step.message);
    forget(transaction, untold);
  });
  return true;
}

}  // namespace

std::vector<UntoldCause> load_untold(const EngineView& view) {
  std::vector<UntoldCause> causes;
  for (const storage::UntoldFinding& finding : storage::untold_findings(view.db)) {
    const auto regression = storage::find_regression(view.db, finding.regression);
    if (!regression) continue;
    const RegressionId id = storage::standing_for(view.db, *regression).id;
    const auto known = std::find_if(causes.begin(), causes.end(),
                                    [&](const UntoldCause& cause) { return cause.id == id; });
    if (known == causes.end())
      causes.push_back({id, {finding.regression}, finding.joined_at});
    else
      known->findings.push_back(finding.regression);
  }
  return causes;
}

bool has_untold(const EngineView& view, RegressionId cause) {
  const auto causes = load_untold(view);
  return std::any_of(causes.begin(), causes.end(),
                     [&](const UntoldCause& one) { return one.id == cause; });
}

JoinedFacts load_joined(const EngineView& view, const UntoldCause& untold) {
  JoinedFacts facts;
  facts.now = view.clock.now();
  facts.cause = *storage::find_regression(view.db, untold.id);
  if (is_named_by_report(facts.cause)) return facts;
  for (const RegressionId id : untold.findings)
    facts.findings.push_back(*storage::find_regression(view.db, id));
  facts.may_grow = may_grow(view, facts);
  const auto wait = std::chrono::hours(view.config.report.gather_hours);
  if (facts.may_grow && facts.now < untold.joined_at + wait) return facts;
  facts.comment = comment_of(view, facts);
  facts.key =
      night_key(facts.cause.fingerprint, facts.comment->groups.front().versions.front() + "/" +
                                             std::to_string(facts.findings.front().id.value));
  return facts;
}

JoinedStep decide(const JoinedFacts& facts) {
  if (is_named_by_report(facts.cause)) return NamedByReport{};
  if (!facts.comment) return AwaitFindings{};
  TellFindings step;
  step.message.key = facts.key;
  step.message.regression = facts.cause.id;
  step.message.kind = OutboxKind::comment;
  step.message.body = render_joined_comment(*facts.comment) + "\n" + marker_of(facts.key) + "\n";
  step.message.created_at = facts.now;
  return step;
}

bool tell_joined(EngineContext& context) {
  const auto tell = [&](const UntoldCause& untold) {
    const JoinedStep step = decide(load_joined(context, untold));
    return std::visit([&](const auto& taken) { return apply(context, untold, taken); }, step);
  };
  return for_each_item(context, "findings that joined regression", load_untold(context), tell);
}

}  // namespace nightjar::service
