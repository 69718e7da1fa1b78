// Judges the runs of a made history by the service's own rules, so that it passes its own proof.
// tests/support/history starts it: a request in JSON a line, and an answer a line.
#include <iostream>

#include "bisect/control.hpp"
#include "bisect/evidence/evidence.hpp"
#include "bisect/evidence/naming.hpp"
#include "storage/model/job.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar {
namespace {
using nlohmann::json;

evidence::Values values_of_side(const json& side) {
  return {field<std::vector<double>>(side, "values"), field<std::vector<RunId>>(side, "runs")};
}

// The reading of a session's control; none if it is not told.
std::vector<ControlReading> controls_in(const json& asked) {
  if (!asked.contains("control")) return {};
  std::vector<EarlierControl> before;
  for (const json& one : asked.at("control").at("before"))
    before.push_back({NightId{static_cast<std::int64_t>(before.size()) + 1}, Gauge::cpu,
                      field<double>(one, "location"), field<double>(one, "within")});
  const auto runs = field<std::vector<double>>(asked.at("control"), "runs");
  return {bisect::read_control(Gauge::cpu, runs, before).value()};
}

json screened(const json& asked) {
  const auto policy = bisect::policy_of_metric(field<std::string>(asked, "metric"));
  const auto levels = field<std::vector<double>>(asked, "levels");
  const auto tonight = values_of_side(asked.at("tonight"));
  const auto controls = controls_in(asked);
  const auto screen = bisect::screen(levels, tonight.values, policy, controls);
  return json::parse(evidence::of_screening(screen, tonight, levels, policy, controls).text);
}

// `more`: how many runs a side are wanted; 0: the verdict stands.
json confirmed(const json& asked) {
  const auto policy = bisect::policy_of_metric(field<std::string>(asked, "metric"));
  const auto good = values_of_side(asked.at("good")), bad = values_of_side(asked.at("bad"));
  const auto judged = bisect::confirm(good.values, bad.values, policy);
  const bool more = judged.verdict == bisect::ConfirmationVerdict::more;
  return {{"more", more ? judged.runs_a_side : 0},
          {"evidence",
           json::parse(evidence::of_confirmation({judged}, good, bad, policy, std::nullopt).text)}};
}

json cells_of(const bisect::Belief& belief) {
  json cells = json::array();
  for (const CellMass& cell : belief.cells)
    cells.push_back({cell.first, cell.last, cell.probability});
  return cells;
}

struct Asked {
  bisect::SearchLog log;
  bisect::SearchPolicy policy;
  std::vector<RunId> runs;
  std::vector<CommitSha> commits;
  evidence::Naming naming;
  bool is_better = false;
};

Asked search_in(const json& asked) {
  Asked search;
  search.commits = field<std::vector<CommitSha>>(asked, "commits");
  search.is_better = field<bool>(asked, "is_better");
  search.policy.max_runs = field<int>(asked, "max_runs");
  search.policy.of_inverses = search.is_better;
  search.log.commits = static_cast<int>(search.commits.size()) - 1;
  for (const json& one : asked.at("untestable")) {
    const auto position = field<int>(one, "commit");
    search.log.untestable.push_back(position);
    search.naming.causes[position] =
        require_enum<UntestableCause>(field<std::string>(one, "cause"));
  }
  for (int position = 1; position < search.log.commits; ++position)
    if (!search.naming.causes.contains(position)) search.log.built.push_back(position);
  const auto policy = bisect::policy_of_metric(field<std::string>(asked, "metric"));
  for (const json& run : asked.at("runs")) {
    search.log.runs.push_back(
        {field<int>(run, "session"), field<int>(run, "commit"),
         bisect::searched_cost(field<double>(run, "value"), policy, search.is_better), -1});
    search.runs.push_back(field<RunId>(run, "run"));
  }
  return search;
}

// What to measure next, or with `evidence` the end.
json searched(const json& asked) {
  const Asked search = search_in(asked);
  const auto next = bisect::next_step(search.log, search.policy);
  json answer{{"posterior", cells_of(next.belief)}, {"expected_runs", next.belief.expected_runs}};
  if (const auto* measure = std::get_if<bisect::Measure>(&next.step)) {
    answer["measure"] = measure->order;
    answer["new_session"] = measure->new_session;
    return answer;
  }
  answer["evidence"] =
      json::parse(evidence::of_search(std::get<bisect::Answer>(next.step), next.belief,
                                      {search.log,
                                       search.policy,
                                       search.runs,
                                       search.commits,
                                       &search.naming,
                                       {},
                                       search.is_better,
                                       {}})
                      .text);
  answer["found"] = json::array();
  const bisect::Answer& end = std::get<bisect::Answer>(next.step);
  answer["outcome"] = name_of(end.outcome);
  for (const NamedStep& step : evidence::named_steps(end, search.naming))
    answer["found"].push_back(
        {step.first, step.last, step.probability, step.ratio, step.low, step.high, step.isolated});
  return answer;
}

json answer_to(const json& asked) {
  const auto what = field<std::string>(asked, "ask");
  if (what == "screening") return screened(asked);
  if (what == "confirmation") return confirmed(asked);
  if (what == "search") return searched(asked);
  return json::parse(evidence::of_reason(field<std::string>(asked, "text")).text);
}

}  // namespace
}  // namespace nightjar

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      std::cout << nightjar::answer_to(nlohmann::json::parse(line)).dump() << std::endl;
    } catch (const std::exception& error) {
      std::cerr << "history_judge: " << error.what() << " in " << line << std::endl;
      return 1;
    }
  }
  return 0;
}
