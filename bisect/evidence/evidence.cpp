#include "bisect/evidence/evidence.hpp"

#include <stdexcept>

#include "bisect/evidence/policy_json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::evidence {
namespace {
using nlohmann::json;

json cells_json(const std::vector<CellMass>& cells, const std::vector<CommitSha>& commits) {
  json list = json::array();
  for (const CellMass& cell : cells)
    list.push_back({{"commits", cell_commits(cell.first, cell.last, commits)},
                    {"probability", cell.probability}});
  return list;
}

json steps(const std::vector<bisect::NamedStep>& named, const std::vector<CommitSha>& commits) {
  json list = json::array();
  for (const bisect::NamedStep& step : named)
    list.push_back({{"commits", cell_commits(step.first, step.last, commits)},
                    {"probability", step.probability},
                    {"ratio", step.ratio},
                    {"low", step.low},
                    {"high", step.high}});
  return list;
}

json positions(const bisect::Belief& belief) {
  json list = json::array();
  for (const bisect::CellMass& cell : belief.cells)
    list.push_back({{"first", cell.first}, {"last", cell.last}, {"probability", cell.probability}});
  return list;
}

json positions(const std::vector<bisect::NamedStep>& named) {
  json list = json::array();
  for (const bisect::NamedStep& step : named)
    list.push_back({{"first", step.first},
                    {"last", step.last},
                    {"probability", step.probability},
                    {"ratio", step.ratio},
                    {"low", step.low},
                    {"high", step.high}});
  return list;
}

json package_json(const LockedPackage& package) {
  return {{"package", package.name}, {"version", package.version}};
}

json runs_json(const bisect::SearchLog& log, const std::vector<RunId>& runs, const char* position) {
  json list = json::array();
  for (std::size_t i = 0; i < log.runs.size(); ++i)
    list.push_back({{"session", log.runs[i].session},
                    {position, log.runs[i].commit},
                    {"value", log.runs[i].value},
                    {"run", runs.at(i)}});
  return list;
}

// The steps as they are named.
std::vector<NamedStep> steps_as_named(const bisect::Answer& answer, const SearchInput& input) {
  return input.naming ? named_steps(answer, *input.naming) : answer.culprits;
}

// The wheel of each run, and what the wheels are.
void add_wheels(json& said, const std::vector<bisect::NamedStep>& ends, const SearchInput& input) {
  json wheels = json::array();
  for (std::size_t i = 0; i < input.wheels.size(); ++i)
    wheels.push_back({{"build", input.wheels[i]}, {"origin", input.log.origins.at(i)}});
  said["wheels"] = std::move(wheels);
  for (std::size_t i = 0; i < input.log.runs.size(); ++i)
    said["runs"][i]["wheel"] = input.log.runs[i].wheel;
  for (std::size_t i = 0; i < ends.size(); ++i) said["culprits"][i]["isolated"] = ends[i].isolated;
}

// What only verdicts with a naming have: each end says whether it is a range.
void add_naming(json& said, const bisect::Answer& answer, const SearchInput& input) {
  const std::vector<NamedEnd> ends = ends_of(answer, *input.naming);
  json culprits = steps(steps_as_named(answer, input), input.commits);
  for (std::size_t i = 0; i < ends.size(); ++i) culprits[i]["range"] = ends[i].is_range;
  json causes = json::array(), origins = json::array();
  for (const int commit : input.log.untestable)
    causes.push_back(name_of(input.naming->causes.at(commit)));
  for (const auto& [commit, from] : input.naming->libraries)
    origins.push_back({{"commit", commit},
                       {"native_state", from.native_state},
                       {"first", from.first},
                       {"last", from.last}});
  said["outcome"] = outcome_word(answer, ends);
  said["culprits"] = std::move(culprits);
  said["max_named"] = input.naming->max_named;
  said["untestable_causes"] = std::move(causes);
  said["libraries"] = std::move(origins);
}

}  // namespace

Evidence of_screening(const bisect::Screen& screen, const Values& tonight,
                      std::span<const double> levels, const bisect::DetectionPolicy& policy,
                      std::span<const ControlReading> controls) {
  json said{{"rules", rules},
            {"stage", "screening"},
            {"verdict", name_of(screen.verdict)},
            {"level", screen.level},
            {"reference", screen.reference},
            {"change", screen.change},
            {"z", screen.z},
            {"tonight", tonight.values},
            {"tonight_runs", tonight.runs},
            {"levels", levels},
            {"policy", policy_json(policy)}};
  for (const ControlReading& one : controls) said["controls"].push_back(control_json(one));
  return {said.dump()};
}

Evidence of_creep(const bisect::Creep& creep, const Values& tonight, std::span<const double> levels,
                  const bisect::DetectionPolicy& policy) {
  return {json{{"rules", rules},
               {"stage", "creep"},
               {"verdict", "suspect_worse"},
               {"reference", creep.reference},
               {"before", creep.before},
               {"after", creep.after},
               {"change", creep.change},
               {"z", creep.z},
               {"tonight", tonight.values},
               {"tonight_runs", tonight.runs},
               {"levels", levels},
               {"policy", policy_json(policy)}}
              .dump()};
}

Evidence of_history(const bisect::Change& change, const HistoryMedians& history,
                    const bisect::DetectionPolicy& policy) {
  const std::string rule =
      "the level of the imported series moved and stayed; nothing was measured side by side, and "
      "nobody is blamed";
  return {json{{"rules", rules},
               {"stage", "history"},
               {"verdict", change.worse ? "worse" : "better"},
               {"rule", rule},
               {"position", change.position},
               {"until", change.until},
               {"steps", change.steps},
               {"before", change.before},
               {"after", change.after},
               {"ratio", change.ratio.ratio},
               {"low", change.ratio.low},
               {"high", change.ratio.high},
               {"builds", history.builds},
               {"medians", history.medians},
               {"policy", policy_json(policy)}}
              .dump(),
          rule};
}

Evidence of_confirmation(const bisect::FleetConfirmation& confirmed, const Values& good,
                         const Values& bad, const bisect::DetectionPolicy& policy,
                         const std::optional<bisect::NightBar>& bar) {
  const bisect::Confirmation& confirmation = confirmed.confirmation;
  json said{{"rules", rules},
            {"stage", "confirmation"},
            {"verdict", name_of(confirmation.verdict)},
            {"ratio", confirmation.change.ratio},
            {"low", confirmation.change.low},
            {"high", confirmation.change.high},
            {"rule", confirmation.rule},
            {"good", good.values},
            {"good_runs", good.runs},
            {"bad", bad.values},
            {"bad_runs", bad.runs},
            {"policy", policy_json(policy)}};
  if (bar)
    said["night"] = {{"evidence", confirmed.evidence},
                     {"needed", bar->evidence()},
                     {"suspects", bar->suspects},
                     {"confirmed", bar->confirmed},
                     {"false_share", bar->share}};
  return {said.dump(), confirmation.rule};
}

Evidence of_attribution(const bisect::AttributionVerdict& verdict, const CellValues& cells,
                        const bisect::DetectionPolicy& policy) {
  const auto part = [](const Part& of) {
    return json{{"ratio", of.ratio}, {"low", of.low}, {"high", of.high}};
  };
  const bool of_wheels = verdict.other == bisect::OtherFactor::wheel;
  const std::string other = of_wheels ? "wheel" : "environment";
  const Attribution& found = verdict.attribution;
  json said{{"rules", rules},
            {"stage", of_wheels ? "wheels" : "attribution"},
            {"verdict", name_of(found.cause)},
            {"rule", verdict.rule},
            {"source", part(found.source)},
            {other, part((of_wheels ? found.wheel : found.environment).value_or(Part{}))},
            {"good", cells.good.values},
            {"good_runs", cells.good.runs},
            {"bad", cells.bad.values},
            {"bad_runs", cells.bad.runs},
            {"source_only", cells.source.values},
            {"source_only_runs", cells.source.runs},
            {other + "_only", cells.other.values},
            {other + "_only_runs", cells.other.runs},
            {"policy", policy_json(policy)}};
  if (verdict.of_failure) said["of_failure"] = true;
  if (verdict.same_source) said["same_source"] = true;
  return {said.dump(), verdict.rule};
}

Evidence of_search(const bisect::Answer& answer, const bisect::Belief& belief,
                   const SearchInput& input) {
  json said{{"rules", rules},
            {"stage", "bisection"},
            {"outcome", name_of(answer.outcome)},
            {"rule", answer.rule},
            {"culprits", steps(answer.culprits, input.commits)},
            {"smaller", steps(answer.smaller, input.commits)},
            {"nothing", belief.nothing},
            {"too_small", belief.too_small},
            {"posterior", cells_json(belief.cells, input.commits)},
            {"commits", input.commits},
            {"untestable", input.log.untestable},
            {"built", input.log.built},
            {"prior", input.log.prior},
            {"runs", runs_json(input.log, input.runs, "commit")},
            {"policy", policy_json(input.policy)}};
  if (input.naming) add_naming(said, answer, input);
  if (!input.wheels.empty()) add_wheels(said, steps_as_named(answer, input), input);
  if (input.good_end) said["good_end"] = *input.good_end;
  if (input.is_better) said["is_better"] = true;
  return {said.dump(), answer.rule};
}

Evidence of_packages(const bisect::Answer& answer, const bisect::Belief& belief,
                     const PackageInput& input) {
  const PackageSearch& search = input.search;
  json mixes = json::array();
  for (const PackageMix& mix : search.mixes) {
    json one = package_json(mix.changed);
    one["lock"] = mix.lock ? json(*mix.lock) : json();
    one["state"] = name_of(mix.state);
    mixes.push_back(std::move(one));
  }
  return {json{{"rules", rules},
               {"stage", "packages"},
               {"verdict", name_of(answer.outcome)},
               {"rule", answer.rule},
               {"question", name_of(search.question)},
               {"wheel", search.wheel},
               {"held", search.held ? package_json(*search.held) : json()},
               {"mixes", std::move(mixes)},
               {"culprits", positions(answer.culprits)},
               {"smaller", positions(answer.smaller)},
               {"nothing", belief.nothing},
               {"too_small", belief.too_small},
               {"posterior", positions(belief)},
               {"untestable", input.log.untestable},
               {"built", input.log.built},
               {"prior", input.log.prior},
               {"runs", runs_json(input.log, input.runs, "position")},
               {"policy", policy_json(input.policy)}}
              .dump(),
          answer.rule};
}

std::vector<NamedStep> named_steps(const bisect::Answer& answer, const Naming& naming) {
  std::vector<NamedStep> named;
  for (const NamedEnd& end : ends_of(answer, naming)) named.push_back(end.step);
  return named;
}

Evidence of_reason(std::string_view reason) {
  return {json{{"rules", rules}, {"reason", reason}}.dump(), std::string(reason)};
}

std::string posterior_json(const std::vector<CellMass>& cells,
                           const std::vector<CommitSha>& commits) {
  return cells_json(cells, commits).dump();
}

std::vector<CommitSha> cell_commits(int first, int last, const std::vector<CommitSha>& commits) {
  if (first < 0 || last < first || last >= static_cast<int>(commits.size()))
    throw std::out_of_range("positions " + std::to_string(first) + " to " + std::to_string(last) +
                            " of a search with " + std::to_string(commits.size()) + " commits");
  return {commits.begin() + first, commits.begin() + last + 1};
}

}  // namespace nightjar::evidence
