#include "service/engine/evidence.hpp"

#include <nlohmann/json.hpp>

namespace nightjar::service {
namespace {
using nlohmann::json;

// Verdicts carry the version of the rules they were made by.
constexpr int kRules = 1;

std::string_view word(bisect::Screen::Verdict verdict) {
  using enum bisect::Screen::Verdict;
  switch (verdict) {
    case first_night: return "first_night";
    case same: return "same";
    case suspect_worse: return "suspect_worse";
    case suspect_better: return "suspect_better";
  }
  return "same";
}

std::string_view word(bisect::Confirmation::Verdict verdict) {
  using enum bisect::Confirmation::Verdict;
  switch (verdict) {
    case worse: return "worse";
    case better: return "better";
    case same: return "same";
    case inconclusive: return "inconclusive";
    case more: return "more";
  }
  return "inconclusive";
}

std::string_view word(bisect::Answer::Outcome outcome) {
  using enum bisect::Answer::Outcome;
  switch (outcome) {
    case culprit: return "culprit";
    case not_reproduced: return "not_reproduced";
    case inconclusive: return "inconclusive";
  }
  return "inconclusive";
}

json sha_list(const std::vector<CommitSha>& commits) {
  json list = json::array();
  for (const CommitSha& sha : commits) list.push_back(sha.str());
  return list;
}

}  // namespace

std::string screening_evidence(const bisect::Screen& screen, std::span<const double> runs,
                               std::span<const double> levels,
                               const bisect::DetectionPolicy& policy) {
  return json{{"rules", kRules},          {"stage", "screening"},
              {"verdict", word(screen.verdict)}, {"level", screen.level},
              {"reference", screen.reference},   {"change", screen.change},
              {"z", screen.z},                   {"runs", runs},
              {"levels", levels},                {"screen_change", policy.screen_change},
              {"screen_z", policy.screen_z}}
      .dump();
}

std::string confirmation_evidence(const bisect::Confirmation& confirmation,
                                  std::span<const double> good, std::span<const double> bad,
                                  const bisect::DetectionPolicy& policy) {
  return json{{"rules", kRules},
              {"stage", "confirmation"},
              {"verdict", word(confirmation.verdict)},
              {"ratio", confirmation.change.ratio},
              {"low", confirmation.change.low},
              {"high", confirmation.change.high},
              {"threshold", policy.threshold},
              {"confidence", policy.confidence},
              {"rule", confirmation.rule},
              {"good", good},
              {"bad", bad}}
      .dump();
}

std::string plain_evidence(std::string_view reason) {
  return json{{"rules", kRules}, {"reason", reason}}.dump();
}

std::vector<CommitSha> cell_commits(int first, int last, const std::vector<CommitSha>& commits) {
  return {commits.begin() + first, commits.begin() + last + 1};
}

std::string posterior_json(const bisect::Belief& belief, const std::vector<CommitSha>& commits) {
  json list = json::array();
  for (const bisect::CellMass& cell : belief.cells)
    list.push_back({{"commits", sha_list(cell_commits(cell.first, cell.last, commits))},
                    {"probability", cell.probability}});
  return list.dump();
}

std::string search_evidence(const bisect::Answer& answer, const bisect::Belief& belief,
                            const std::vector<CommitSha>& commits, const bisect::SearchLog& log) {
  json culprits = json::array();
  for (const bisect::NamedStep& step : answer.culprits)
    culprits.push_back({{"commits", sha_list(cell_commits(step.first, step.last, commits))},
                        {"probability", step.probability},
                        {"ratio", step.ratio},
                        {"low", step.low},
                        {"high", step.high}});
  json runs = json::array();
  for (const bisect::SearchRun& run : log.runs)
    runs.push_back({{"session", run.session}, {"commit", run.commit}, {"value", run.value}});
  return json{{"rules", kRules},
              {"stage", "bisection"},
              {"outcome", word(answer.outcome)},
              {"rule", answer.rule},
              {"culprits", culprits},
              {"nothing", belief.nothing},
              {"too_small", belief.too_small},
              {"posterior", json::parse(posterior_json(belief, commits))},
              {"commits", sha_list(commits)},
              {"untestable", log.untestable},
              {"prior", log.prior},
              {"runs", runs}}
      .dump();
}

}  // namespace nightjar::service
