// Which runs of each commit gave no number. One lost run condemns no commit. Used by `bisect run`.
#pragma once

#include <bit>
#include <map>

namespace nightjar::cli {

class LostRuns {
 public:
  void note(int commit, bool is_lost) {
    unsigned& runs = runs_[commit];
    runs = (runs << 1 | unsigned{is_lost}) & kLast;
  }
  // Three of its last four runs gave no number.
  bool condemn(int commit) const {
    const auto found = runs_.find(commit);
    return found != runs_.end() && std::popcount(found->second) >= 3;
  }

 private:
  static constexpr unsigned kLast = 0b1111;
  std::map<int, unsigned> runs_;  // a bit for each of the last four; 1: lost
};

}  // namespace nightjar::cli
