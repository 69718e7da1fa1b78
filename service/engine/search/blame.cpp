#include "service/engine/search/blame.hpp"

#include <algorithm>

#include "bisect/evidence/contributors.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/engine/search/naming.hpp"
#include "service/engine/search/withdrawal.hpp"
#include "service/report/report.hpp"
#include "storage/regressions.hpp"
#include "storage/untold_findings.hpp"

namespace nightjar::service {
namespace {
using enum RegressionState;

// Returns the causes that the answer names, one by one.
std::vector<NamedCause> causes_of(const bisect::Answer& answer, const Bisection& bisection,
                                  const evidence::Naming& naming) {
  auto causes = named_causes(answer, bisection, naming);
  const auto word = evidence::outcome_word(answer, evidence::ends_of(answer, naming));
  if (word != name_of(bisect::SearchOutcome::several_small)) return causes;
  std::vector<Culprit> contributors;
  for (const NamedCause& cause : causes) contributors.push_back(cause.commits);
  return {{evidence::together(contributors), false}};
}

void take_over_series(Regression& known, const Regression& joining) {
  for (const AffectedSeries& series : joining.series) {
    const bool has = std::any_of(known.series.begin(), known.series.end(),
                                 [&](const auto& one) { return one.series == series.series; });
    if (!has) known.series.push_back(series);
  }
}

// The regression of the search's cause number `part`.
Regression part_of(const Regression& searched, int part) {
  Regression regression = searched;
  if (part == 0) return regression;
  regression.id = {};
  regression.part = part;
  regression.found_by = FoundBy::search;
  return regression;
}

// A further culprit gets its row first.
void add_part(storage::Transaction& transaction, const Regression& searched, Regression& regression,
              Time now) {
  if (regression.part == 0) return;
  Regression further = searched;
  further.id = {};
  further.part = regression.part;
  further.found_by = regression.found_by;
  further.culprit.reset();
  further.range.reset();
  further.opened_at = regression.opened_at = now;
  regression.id = storage::add_regression(
                      transaction, further,
                      {bisecting, now,
                       evidence::of_reason("a further culprit of the search for regression " +
                                           std::to_string(searched.id.value))})
                      .id;
}

void store(storage::Transaction& transaction, const NameCulprit& blame, const Evidence& evidence,
           Time now) {
  const RegressionState state = blame.regression.range ? range : blamed;
  storage::change_regression(transaction, blame.regression, {state, now, evidence});
}

}  // namespace

void store(storage::Transaction& transaction, const JoinKnown& blame, const Evidence& evidence,
           Time now) {
  const std::string id = std::to_string(blame.regression.id.value);
  // First, because since when a class shows the cause is read from what was merged.
  storage::change_regression(transaction, blame.regression, {merged, now, evidence});
  if (blame.reopens)
    storage::change_regression(
        transaction, blame.known,
        {reported, now, evidence::of_reason("shown again by regression " + id)});
  else
    storage::update_regression(transaction, blame.known);
  withdraw_issue(transaction, blame.regression.id,
                 "Regression " + std::to_string(blame.known.id.value) +
                     " has the same cause, and an issue of its own" +
                     (blame.known.issue_url.empty() ? "" : ": " + blame.known.issue_url) + ".",
                 now);
  if (blame.is_filed) storage::add_untold(transaction, {blame.regression.id, now});
}

std::optional<Regression> load_known(const EngineView& view, const Regression& joining,
                                     const std::string& fingerprint) {
  auto known = storage::find_regression(view.db, fingerprint);
  if (!known || known->id == joining.id) return std::nullopt;
  const bool stands = known->state == blamed || known->state == range ||
                      known->state == unattributed || known->state == reported ||
                      known->state == recovered;
  return stands ? known : std::nullopt;
}

JoinKnown join(Regression regression, const Regression& known) {
  const bool reopens = known.state == recovered;
  JoinKnown join{std::move(regression), known, reopens || known.state == reported, reopens};
  take_over_series(join.known, join.regression);
  join.regression.merged_into = join.known.id;
  join.regression.fingerprint.clear();
  return join;
}

BlameFacts load_blame(const EngineView& view, const Regression& regression,
                      const Bisection& bisection, const bisect::Answer& answer,
                      const evidence::Naming& naming) {
  BlameFacts facts{regression, {}};
  for (auto& [commits, is_range] : causes_of(answer, bisection, naming)) {
    CauseFacts cause{std::move(commits), is_range, {}, {}};
    cause.fingerprint = fingerprint_of(view.config.repository.url, cause.commits.commits);
    cause.known = load_known(view, regression, cause.fingerprint);
    facts.causes.push_back(std::move(cause));
  }
  return facts;
}

std::vector<Blame> decide(const BlameFacts& facts) {
  std::vector<Blame> all;
  for (const CauseFacts& cause : facts.causes) {
    Regression regression = part_of(facts.regression, static_cast<int>(all.size()));
    regression.culprit.reset();
    regression.range.reset();
    (cause.is_range ? regression.range : regression.culprit) = cause.commits;
    if (cause.known) {
      all.push_back(join(std::move(regression), *cause.known));
      continue;
    }
    regression.fingerprint = cause.fingerprint;
    all.push_back(NameCulprit{std::move(regression)});
  }
  return all;
}

void store(storage::Transaction& transaction, const Regression& searched, std::vector<Blame>& all,
           const Evidence& evidence, Time now) {
  for (Blame& one : all)
    std::visit(
        [&](auto& blame) {
          add_part(transaction, searched, blame.regression, now);
          store(transaction, blame, evidence, now);
        },
        one);
}

void announce(const EngineContext& context, const JoinKnown& blame) {
  if (blame.reopens) announce(context, blame.known, reported);
  announce(context, blame.regression, merged);
}

void announce(const EngineContext& context, const std::vector<Blame>& all) {
  for (const Blame& one : all) {
    if (const auto* join = std::get_if<JoinKnown>(&one)) {
      announce(context, *join);
      continue;
    }
    const Regression& named = std::get<NameCulprit>(one).regression;
    announce(context, named, named.range ? range : blamed);
  }
}

}  // namespace nightjar::service
