// One search over a line of commits or versions: measures until the evidence names one, or nobody.
// Used by `bisect run` for the history between its ends and for each branch of a merge, and by
// `bisect versions`.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "bisect/shared_search.hpp"
#include "service/cli/bench.hpp"
#include "service/cli/benchmarks.hpp"
#include "service/cli/bisect_run.hpp"
#include "service/cli/chart.hpp"
#include "service/cli/lost_runs.hpp"

namespace nightjar::cli {

// What was searched, and what came of it.
struct SearchResult {
  std::vector<std::string> commits;  // the good end first
  Benchmarks benchmarks;             // each with its runs and its answer
  int builds = 0;                    // made by this search
};

class SearchLoop {
 public:
  // After each run, and after each commit that turned out to be untestable.
  using Save = std::function<void(const SavedSearch&)>;
  // Before each round, with the benchmark that it serves most.
  using Draw = std::function<void(const bisect::SharedPart&)>;

  // `saved` has what earlier starts measured.
  SearchLoop(const BisectOptions& options, Bench& bench, const std::vector<std::string>& commits,
             const SavedSearch& saved, Save save, Draw draw, std::stop_token stop);
  // Throws Broken if an end cannot be tested, or if the measure gives no numbers, and
  // runner::Stopped.
  SearchResult run();

 private:
  void take(const bisect::Measure& step);
  bool take_run(int commit);
  bool give_up(int commit, const Measurement& last);
  void build(const bisect::Measure& step);
  bool mark_untestable(int commit, const std::string& why);
  void show_progress();
  std::size_t runs() const;
  int last_commit() const { return static_cast<int>(result_.commits.size()) - 1; }
  const std::string& commit_at(int position) const;

  const BisectOptions& options_;
  Bench& bench_;
  Save save_;
  Draw draw_;
  std::stop_token stop_;
  SearchResult result_;
  LostRuns lost_;  // runs that gave no benchmark a number
  Chart chart_;
  int session_ = 0;
};

}  // namespace nightjar::cli
