// A search from what was kept of it to what is printed. Used by `bisect run` and `bisect versions`.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "service/cli/bench.hpp"
#include "service/cli/bisect_run.hpp"
#include "service/cli/kept_search.hpp"
#include "service/cli/many_report.hpp"
#include "service/cli/search_loop.hpp"
#include "service/cli/search_report.hpp"

namespace nightjar::cli {

class SearchSession {
 public:
  using Facts = std::function<CommitFacts(const std::string& position)>;
  // What is asked for once a culprit is known: searches inside its merges.
  using GoOn = std::function<std::vector<MergeFinding>(const std::vector<ReportedStep>& culprits)>;

  SearchSession(const BisectOptions& options, Bench& bench, KeptSearch& kept, Facts facts,
                std::stop_token stop);

  // Searches these positions, the good end first, and prints the answer. Returns the exit code.
  int run(const std::vector<std::string>& positions, const GoOn& go_on);
  // One more search by the same rules, of one benchmark, kept in the same file.
  SearchReport search_inside(const std::vector<std::string>& positions);

 private:
  SearchResult search(const std::vector<std::string>& positions, SearchLoop::Draw draw);
  ManyReport reported(const SearchResult& result) const;
  void draw(const std::vector<std::string>& positions, const bisect::SharedPart& benchmark,
            const std::string& answer) const;

  const BisectOptions& options_;
  Bench& bench_;
  KeptSearch& kept_;
  Facts facts_;
  std::stop_token stop_;
};

}  // namespace nightjar::cli
