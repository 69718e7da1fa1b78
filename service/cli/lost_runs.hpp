// Which commits lose so many runs that they cannot be tested. One lost run condemns no commit. Used
// by `bisect run`.
#pragma once

#include <map>

namespace nightjar::cli {

// A sum of log-likelihood ratios a commit, as in E. S. Page, "Continuous inspection schemes"
// (Biometrika, 1954): a commit that does not work loses nearly every run, another one loses as many
// as the rest of the search does.
class LostRuns {
 public:
  // `commits` is the position of the bad end.
  explicit LostRuns(int commits) : commits_(commits) {}

  void note(int commit, bool is_lost);
  // Where few runs are lost elsewhere: after three lost runs before its first number, four after
  // it. Without an end there is no search, so an end takes one more.
  bool condemn(int commit) const;

 private:
  struct Tally {
    int lost = 0, given = 0;
    double score = 0;
  };
  bool is_end(int commit) const { return commit == 0 || commit == commits_; }
  double share_lost_elsewhere(int commit) const;

  int commits_;
  std::map<int, Tally> runs_;
};

}  // namespace nightjar::cli
