// A search from what was kept of it to what is printed. Used by `bisect run` and `bisect versions`.
#pragma once

#include <functional>
#include <map>
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
  // What is asked for once a benchmark's culprit is known: searches inside its merges.
  using GoOn = std::function<std::vector<MergeFinding>(const SearchReport& report)>;

  SearchSession(const BisectOptions& options, Bench& bench, KeptSearch& kept, Facts facts,
                std::stop_token stop);

  // Searches these positions, the good end first, and prints the answer. Returns the exit code.
  int run(const std::vector<std::string>& positions, const GoOn& go_on);
  // What one more search of these positions says of the benchmark of `outer`. It is by the same
  // rules, kept in the same file, and made once for all benchmarks that blame the merge. Throws
  // Broken where the benchmark cannot be searched there.
  SearchReport search_inside(const std::string& merge, const std::vector<std::string>& positions,
                             const SearchReport& outer);

 private:
  SearchResult search(const BisectOptions& options, const std::vector<std::string>& positions,
                      SearchLoop::Draw draw);
  // The benchmarks that blame this commit, that of `outer` first; empty: the one that has no name.
  std::vector<SearchSubject> blaming(const std::string& commit, const SearchReport& outer) const;
  ManyReport reported(const SearchResult& result) const;
  void draw(const std::vector<std::string>& positions, const bisect::SharedPart& benchmark,
            const std::string& answer) const;

  const BisectOptions& options_;
  Bench& bench_;
  KeptSearch& kept_;
  Facts facts_;
  std::stop_token stop_;
  ManyReport found_;  // by the search that the others are inside of
  struct Inside {
    ManyReport found;
    std::string broken;  // why it could not be searched
  };
  std::map<std::vector<std::string>, Inside> inside_;  // by their positions
};

}  // namespace nightjar::cli
