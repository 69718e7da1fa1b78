// One search over a line of commits or versions: measures until the evidence names one, or nobody.
// Used by `bisect run` for the history between its ends and for each branch of a merge, and by
// `bisect versions`.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "bisect/search.hpp"
#include "service/cli/bench.hpp"
#include "service/cli/bisect_run.hpp"
#include "service/cli/chart.hpp"
#include "service/cli/lost_runs.hpp"

namespace nightjar::cli {

// What was searched, and what came of it.
struct SearchResult {
  std::vector<std::string> commits;  // the good end first
  bisect::SearchLog log;             // of measured values
  bisect::Answer answer;
  bisect::Belief belief;
  int builds = 0;  // made by this search
};

class SearchLoop {
 public:
  // After each run, and after each commit that turned out to be untestable.
  using Save = std::function<void(const bisect::SearchLog&)>;
  // Before each round.
  using Draw = std::function<void(const SearchResult&)>;

  // `log` has what earlier starts measured, of runs and untestable commits.
  SearchLoop(const BisectOptions& options, Bench& bench, std::vector<std::string> commits,
             bisect::SearchLog log, Save save, Draw draw, std::stop_token stop);
  // Throws Broken if an end cannot be tested, or if the measure gives no numbers, and
  // runner::Stopped.
  SearchResult run();

 private:
  void take(const bisect::Measure& step);
  bool take_run(int commit);
  bool give_up(int commit, const Measurement& last);
  void build(const bisect::Measure& step);
  bool mark_untestable(int commit, const std::string& why);
  void note_built(int commit);
  const std::string& commit_at(int position) const;

  const BisectOptions& options_;
  Bench& bench_;
  Save save_;
  Draw draw_;
  std::stop_token stop_;
  SearchResult result_;
  bisect::SearchPolicy policy_;
  LostRuns lost_;
  Chart chart_;
  int session_ = 0;
};

}  // namespace nightjar::cli
