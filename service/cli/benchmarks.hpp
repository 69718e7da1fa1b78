// The benchmarks of a search: which there are, what each run gave them, and what is kept of that.
// Used by search_loop.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/shared_search.hpp"
#include "service/cli/bisect_run.hpp"
#include "service/cli/lost_runs.hpp"
#include "service/cli/measured_values.hpp"
#include "service/cli/progress_file.hpp"

namespace nightjar::cli {

class Benchmarks {
 public:
  Benchmarks(int commits, const bisect::SearchPolicy& policy, const BisectOptions& options);

  // Takes what a run of `commit` gave, if at least one benchmark has a number. Else says why not,
  // as the end of a sentence. The first runs tell which benchmarks there are.
  std::string take(int session, int commit, const std::vector<MeasuredValue>& values);
  void note_untestable(int commit);
  void note_built(int commit) { shared_.note_built(commit); }
  bool has_runs_of(int commit) const;

  // What to measure next, or nullopt at the end. Throws Broken if no benchmark is left.
  std::optional<bisect::Measure> next();
  const bisect::SharedSearch& shared() const { return shared_; }
  const std::vector<SearchSubject>& subjects() const { return subjects_; }
  bool are_many() const { return subjects_.size() > 1; }
  // Why a benchmark cannot be searched; empty if it can.
  const std::string& left_out(std::size_t part) const { return left_out_[part]; }

  SavedSearch saved() const;
  void restore(const SavedSearch& saved);

 private:
  void add(const SearchSubject& subject);
  std::optional<std::size_t> find(const std::string& name) const;
  bool is_end(int commit) const { return commit == 0 || commit == commits_; }
  void note_misses(int commit, const std::vector<std::optional<double>>& values);

  const BisectOptions& options_;
  const int commits_, first_runs_;
  bisect::SharedSearch shared_;
  std::vector<SearchSubject> subjects_;  // this and the next two by part
  std::vector<LostRuns> lost_;
  std::vector<std::string> left_out_;
  std::vector<SavedRun> runs_;
  std::vector<int> untestable_;
};

// The options with the direction of a benchmark: the user's word comes before the format's.
BisectOptions options_for(const SearchSubject& subject, BisectOptions options);

}  // namespace nightjar::cli
