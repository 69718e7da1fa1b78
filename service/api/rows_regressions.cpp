#include "service/api/rows.hpp"
#include "service/builds/origin.hpp"
#include "service/engine/outcome/effect.hpp"
#include "service/engine/search/package_searches.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/affected_classes.hpp"
#include "storage/locks.hpp"
#include "storage/package_searches.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

const Row<AffectedSeries>& affected_row() {
  using Shown = AffectedSeries;
  static const Row<Shown> made(
      "AffectedSeries",
      "What one series shows: side by side once it was confirmed, before that in its night.",
      {{"series", &Shown::series},
       {"workload", of_series(&Shown::series, &Series::workload_name), "The workload's name."},
       {"metric", of_series(&Shown::series, &Series::metric)},
       {"machine", of_series(&Shown::series, &Series::machine), "Id of the machine class."},
       {"unit", of_series(&Shown::series, unit_of)},
       {"direction", of_series(&Shown::series, direction_of)},
       {"has_ratio", of_series(&Shown::series, has_ratio)},
       {"before", &Shown::before},
       {"after", &Shown::after},
       {"ratio", &Shown::ratio, "after / before"},
       {"low", &Shown::low},
       {"high", &Shown::high}});
  return made;
}

const Row<Effect>& effect_row() {
  static const Row<Effect> made(
      "Effect", "The size that counts: of the first series, after / before.",
      {{"source", &Effect::source,
        "What measured it. search: the step at the culprit or range. confirmation: both builds "
        "side by side. screening: one night against its level. history: an imported step."},
       {"ratio", &Effect::ratio,
        "For failures, and for metrics that are normally near zero, before and after say more."},
       {"low", &Effect::low},
       {"high", &Effect::high}});
  return made;
}

const Row<AffectedClass>& class_row() {
  static const Row<AffectedClass> made(
      "AffectedClass", "Whether a machine class shows a regression.",
      {{"machine", &AffectedClass::machine, "Id of the machine class."},
       {"gpu", or_null(&AffectedClass::gpu), "Models of its GPUs; null: it has none."},
       {"state", &AffectedClass::state,
        "seen; not_seen: looked for, and no worse; not_looked_for: the night did not measure the "
        "affected models there."},
       {"first_seen", &AffectedClass::first_seen,
        "The night in which the class showed it; null: it does not."},
       {"ratio", &AffectedClass::ratio,
        "after / before of its first series; of not_seen, the largest of the night's screening."},
       {"low", &AffectedClass::low, "null: it was not measured side by side."},
       {"high", &AffectedClass::high}});
  return made;
}

const Row<Part>& part_row() {
  static const Row<Part> made(
      "PartOfChange", "after / before, as far as it is this part's.",
      {{"ratio", &Part::ratio}, {"low", &Part::low}, {"high", &Part::high}});
  return made;
}

const Row<Attribution>& attribution_row() {
  static const Row<Attribution> made(
      "Attribution", "Whether source, packages or wheel changed it, measured two by two.",
      {{"cause", &Attribution::cause,
        "both: source and environment. wheel: it was compiled or packed in another way."},
       {"source", &Attribution::source, part_row()},
       {"environment", &Attribution::environment, part_row(),
        "null: the ends have the same packages."},
       {"wheel", &Attribution::wheel, part_row(),
        "null: no wheel serves both ends, or it was not measured apart from the source."},
       {"held", &Attribution::held,
        "The bad end with the good one's packages, and with its wheel where one serves both. It "
        "ends the search; null: it does not run."}});
  return made;
}

const Row<PackageCause>& cause_row() {
  static const Row<NamedPackage> package(
      "NamedPackage", "A package that made it worse, by its versions.",
      {{"name", &NamedPackage::name},
       {"before", or_null(&NamedPackage::before),
        "The last version that did not; null: it is not installed."},
       {"after", or_null(&NamedPackage::after), "The first version that did."},
       {"ratio", &NamedPackage::ratio, "after / before; 1 if it was not measured by itself."},
       {"low", &NamedPackage::low},
       {"high", &NamedPackage::high}});
  static const Row<PackageCause> made(
      "PackageCause", "Which of the packages that differ did it.",
      {{"packages", &PackageCause::packages, package, "Empty: none could be named."},
       {"together", &PackageCause::together, "Each of them needs the others."},
       {"said", or_null(&PackageCause::said), "One sentence."},
       {"left_out", &PackageCause::left_out, "Environments that could not be measured, and why."}});
  return made;
}

const Row<PinMove>& pin_row() {
  static const Row<PinMove> made("PinMove", "A commit that changed a file which pins versions.",
                                 {{"commit", &PinMove::commit}, {"path", &PinMove::path}});
  return made;
}

const Row<PackageSearch>& package_search_row() {
  using Search = PackageSearch;
  static const Row<PackageMix> mix(
      "PackageMix", "The environment before it with one package changed.",
      {{"package", [](const PackageMix& one) { return one.changed.name; }, "Empty: the good end."},
       {"version", [](const PackageMix& one) { return one.changed.version; },
        "Empty: it is not installed."},
       {"state", &PackageMix::state},
       {"lock", &PackageMix::lock},
       {"reason", or_null(&PackageMix::reason), "Why it cannot be measured."}});
  static const Row<NamedStep> step("PackageStep", "Adjacent environments that it named.",
                                   {{"first", &NamedStep::first},
                                    {"last", &NamedStep::last},
                                    {"probability", &NamedStep::probability},
                                    {"ratio", &NamedStep::ratio},
                                    {"low", &NamedStep::low},
                                    {"high", &NamedStep::high}});
  static const Row<CellMass> cell("PackageBelief",
                                  "The probability that one of these environments is a real step.",
                                  {{"first", &CellMass::first},
                                   {"last", &CellMass::last},
                                   {"probability", &CellMass::probability}});
  static const Row<Search> made(
      "PackageSearch", "A search over a chain of environments, from the good end's packages on.",
      {{"question", &Search::question},
       {"state", &Search::state},
       {"series", &Search::series},
       {"wheel", &Search::wheel, "That all of its environments have."},
       {"mixes", &Search::mixes, mix},
       {"found", &Search::found, step, "By position in `mixes`."},
       {"posterior", &Search::posterior, cell, "By position in `mixes`, the likeliest first."},
       {"rule", or_null(&Search::rule), "Why it ended so."},
       {"runs", &Search::runs},
       {"sessions", &Search::sessions},
       {"spent_seconds", &Search::spent_seconds},
       {"expected_runs", &Search::expected_runs},
       {"started_at", &Search::started_at},
       {"finished_at", &Search::finished_at}});
  return made;
}

std::optional<BisectionId> bisection_behind(const Regression& regression, Rows& rows) {
  const auto found = storage::search_behind(rows.db, regression.id);
  return found ? std::optional(found->id) : std::nullopt;
}

}  // namespace

const Row<Culprit>& culprit_row() {
  const auto details = [](const Culprit& culprit, Rows& rows) {
    return Maybe<std::vector<CommitSha>>{rows.context ? std::optional(culprit.commits)
                                                      : std::nullopt};
  };
  static const Row<Culprit> made("Culprit",
                                 "Adjacent commits, oldest first, that could not be told apart.",
                                 {{"commits", &Culprit::commits},
                                  {"commit_details", details, named_commit(),
                                   "The same commits by name; not in an evidence bundle."},
                                  {"probability", &Culprit::probability},
                                  {"ratio", &Culprit::ratio},
                                  {"low", &Culprit::low},
                                  {"high", &Culprit::high}});
  return made;
}

const Row<NamedCause>& named_cause_row() {
  const auto of = [](auto get) {
    return [get](const NamedCause& cause) { return std::invoke(get, cause.commits); };
  };
  const auto details = [](const NamedCause& cause, Rows& rows) {
    return Maybe<std::vector<CommitSha>>{rows.context ? std::optional(cause.commits.commits)
                                                      : std::nullopt};
  };
  static const Row<NamedCause> made(
      "MadeBetter", "Adjacent commits, oldest first, that made a build better.",
      {{"commits", of(&Culprit::commits)},
       {"commit_details", details, named_commit(),
        "The same commits by name; not in an evidence bundle."},
       {"range", &NamedCause::is_range,
        "One of them did it, and some have no build here. false: the last one did it."},
       {"probability", of(&Culprit::probability)},
       {"ratio", of(&Culprit::ratio), "Cost before over cost after: above 1 is better."},
       {"low", of(&Culprit::low)},
       {"high", of(&Culprit::high)}});
  return made;
}

const Row<RegressionChange>& change_row() {
  const auto evidence = [](const RegressionChange& change) {
    return parsed_or(change.evidence.text, json::object());
  };
  const auto rule = [](const RegressionChange& change) { return change.evidence.rule; };
  static const Row<RegressionChange> made(
      "RegressionChange", "A change of state and its evidence.",
      {{"state", &RegressionChange::state},
       {"at", &RegressionChange::at},
       {"rule", rule, "Why, in a sentence; empty: its numbers say it."},
       {"evidence", evidence, "", {{"type", "object"}}}});
  return made;
}

const Row<Regression>& regression_row() {
  const auto whose = [](const Regression& regression, Rows& rows) {
    return storage::attribution_of(rows.db, regression.id);
  };
  const auto differences = [](const Regression& regression, Rows& rows) {
    const auto found = storage::attribution_of(rows.db, regression.id);
    return found && has_wheel(found->cause)
               ? wheel_differences(rows.db, regression.good, regression.bad)
               : std::vector<std::string>{};
  };
  const auto classes = [](const Regression& regression, Rows& rows) {
    return storage::affected_classes(rows.db, regression.id);
  };
  const auto cause = [](const Regression& regression, Rows& rows) {
    return cause_among_packages(rows.db, regression);
  };
  const auto effect = [](const Regression& regression, Rows& rows) {
    return effect_of(rows.db, regression, rows.series_of(regression.series.front().series));
  };
  const auto pins = [](const Regression& regression, Rows& rows) {
    return storage::pin_moves_of(rows.db, regression.id);
  };
  static const Row<Regression> made(
      "Regression", "One cause, however many series show it.",
      {{"id", &Regression::id},
       {"state", &Regression::state},
       {"night", &Regression::night},
       {"machine", &Regression::machine},
       {"good", build_at(&Regression::good), build_ref()},
       {"bad", build_at(&Regression::bad), build_ref()},
       {"counted",
        [](const Regression& regression) { return lifecycle_of(regression.state).is_counted; },
        "It is one of the regressions that are counted: it was confirmed, nobody dismissed it, "
        "and it is no part of another one."},
       {"progress",
        [](const Regression& regression) { return lifecycle_of(regression.state).progress; },
        "running: it is measured, and somebody may still be named. waiting: a person or the outbox "
        "goes on. told: nothing is left to do until a night shows news. over: it has ended."},
       {"effect", effect, effect_row()},
       {"series", &Regression::series, affected_row(), "The lead series first."},
       {"classes", classes, class_row(),
        "Machine classes by id. One about which nothing is decided yet is left out."},
       {"culprit", &Regression::culprit, culprit_row()},
       {"range", &Regression::range, culprit_row(),
        "In place of a culprit: some of these commits were never tried, and nobody is blamed."},
       {"attribution", whose, attribution_row(),
        "Where the ends differ in more than their source: whose the change is. null: they do not, "
        "or it cannot be measured."},
       {"wheel_differences", differences,
        "Where the wheel changed it: what differs between the wheels, a line each."},
       {"packages", cause, cause_row(),
        "Where the packages did it: which one, and which version. null: not searched, or not yet."},
       {"pins", pins, pin_row(), "Where the versions of these packages moved, the oldest first."},
       {"merged_into", &Regression::merged_into},
       {"unfinished",
        &Regression::unfinished,
        "Confirmations that lost jobs or void sessions cut short.",
        {{"minimum", 0}}},
       {"bisection", bisection_behind},
       {"fingerprint", or_null(&Regression::fingerprint)},
       {"issue_number", &Regression::issue_number},
       {"issue_url", or_null(&Regression::issue_url)},
       {"opened_at", &Regression::opened_at},
       {"updated_at", &Regression::updated_at}});
  return made;
}

const Row<Regression>& regression_detail() {
  const auto changes = [](const Regression& regression, Rows& rows) {
    return storage::changes_of(rows.db, regression.id);
  };
  const auto searches = [](const Regression& regression, Rows& rows) {
    return storage::package_searches_of(rows.db, regression.id);
  };
  const auto together = [](const Regression& regression, Rows& rows) {
    const auto search = storage::search_behind(rows.db, regression.id);
    return regression.culprit && search && search->outcome == SearchOutcome::several_small;
  };
  const auto may_be_wheel = [](const Regression& regression, Rows& rows) {
    const auto search = storage::search_behind(rows.db, regression.id);
    return regression.range && search &&
           std::any_of(search->found.begin(), search->found.end(),
                       [](const NamedStep& step) { return !step.isolated; });
  };
  static const Row<Regression> made(
      "RegressionDetail", "A regression with its history.", regression_row(),
      {{"changes", changes, change_row()},
       {"together", together, "No commit of the culprit reaches the threshold; all together do."},
       {"may_be_wheel", may_be_wheel,
        "The two sides of the range ran on wheels that may differ by themselves."},
       {"package_searches", searches, package_search_row(), "In the order they were made."}});
  return made;
}

const Row<OutboxMessage>& report_row() {
  static const Row<OutboxMessage> made(
      "Report", "A message to the issue tracker, the chat or the export.",
      {{"id", &OutboxMessage::id},
       {"key", &OutboxMessage::key},
       {"regression", &OutboxMessage::regression, "null: a digest, or a fix."},
       {"kind", &OutboxMessage::kind},
       {"title", or_null(&OutboxMessage::title)},
       {"body", &OutboxMessage::body,
        "Markdown. Of a message to the chat: the finding's address. Of a verdict: records of "
        "PyTorch's benchmark database, one a line."},
       {"commands", &OutboxMessage::commands,
        "Of an issue about a regression: what measures it again, block by block."},
       {"state", &OutboxMessage::state},
       {"attempts", &OutboxMessage::attempts},
       {"not_before", &OutboxMessage::not_before},
       {"error", or_null(&OutboxMessage::error)},
       {"url", or_null(&OutboxMessage::url)},
       {"created_at", &OutboxMessage::created_at}});
  return made;
}

}  // namespace nightjar::service::api
