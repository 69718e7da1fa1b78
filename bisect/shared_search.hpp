// Several searches over one history that share their runs: each run measured several benchmarks.
// Every benchmark has a search of its own (search.hpp) over the runs that gave it a number. Used by
// `nightjar bisect run`.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bisect/search.hpp"

namespace nightjar::bisect {

// One benchmark's part.
struct SharedPart {
  bool seeks_less = false;  // a change searched for makes the number smaller
  SearchLog log;            // of the measured numbers
  int runs_for_others = 0;  // of them, on commits that it did not ask for
  std::optional<Answer> answer;
  std::size_t answered_after = 0;  // runs of the log
  Belief belief;
  bool is_left_out = false;  // it cannot be searched, and never gets an answer

  bool is_open() const { return !answer && !is_left_out; }
};

class SharedSearch {
 public:
  // `policy`: of each search; max_runs counts all runs.
  SharedSearch(int commits, const SearchPolicy& policy);

  // Another benchmark. There is no more after the first runs of both ends.
  void add(bool seeks_less);
  std::vector<SharedPart>& parts() { return parts_; }
  const std::vector<SharedPart>& parts() const { return parts_; }
  int runs() const { return runs_; }

  // A run that measured `commit`. `values` has one for each part; nullopt: it gave that none.
  void take(int session, int commit, const std::vector<std::optional<double>>& values);
  void note_untestable(int commit);  // for every benchmark
  void note_untestable(std::size_t part, int commit);
  void note_built(int commit);

  // Once all runs were taken again that a file kept: finds the answer that the part had after so
  // many of its runs. It stays open if it has none by this policy, such as a larger budget.
  void restore(std::size_t part, std::size_t answered_after, int runs_for_others);

  // The next runs, or nullopt if each part has an answer or is left out. Of all that the open
  // searches ask for, takes what serves most of them, the more the likelier they are to find
  // something. An answer stays what it was, though later
  // runs of its benchmark come in. So no search looks again and again for the same mistake, and the
  // chance that any of them blames by mistake is that of one search alone.
  std::optional<Measure> next();
  // The part whose request the last next() took.
  std::size_t served() const { return served_; }

 private:
  void decide(SharedPart& part, Measure& wanted) const;

  SearchPolicy policy_;
  SearchLog empty_;  // of a benchmark that is yet to be known
  std::vector<SharedPart> parts_;
  std::vector<Measure> wanted_;  // by part
  std::size_t served_ = 0;
  int runs_ = 0;
};

}  // namespace nightjar::bisect
