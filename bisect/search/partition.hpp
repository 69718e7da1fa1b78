// What is known about the culprit's place once certain commits are measured. Used inside
// `bisect/search` only.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <vector>

namespace nightjar::bisect::search {

// The bits that cuts give about where the culprit is. A cut at c tells 1..c from the rest.
class Partition {
 public:
  // `below`: P(the culprit is one of 1..c) for c = 0..N; kept as a reference.
  explicit Partition(const std::vector<double>& below) : below_(below) {
    cuts_.insert(0);
    cuts_.insert(static_cast<int>(below.size()) - 1);
  }

  void cut(const std::vector<int>& commits) { cuts_.insert(commits.begin(), commits.end()); }

  // What cuts at these ascending commits would add.
  double gain(const std::vector<int>& commits) const {
    double bits = 0;
    int last = -1;  // the cut before, if it lies in the same cell
    for (const int commit : commits) {
      const auto high = cuts_.lower_bound(commit);
      if (*high == commit) continue;
      const int low = std::max(*std::prev(high), last);
      const double left = mass(low, commit), right = mass(commit, *high);
      bits += of_share(left) + of_share(right) - of_share(left + right);
      last = commit;
    }
    return bits;
  }

 private:
  static double of_share(double p) { return p > 0 ? -p * std::log2(p) : 0; }
  double mass(int from, int to) const {
    return below_[static_cast<std::size_t>(to)] - below_[static_cast<std::size_t>(from)];
  }

  const std::vector<double>& below_;
  std::set<int> cuts_;
};

}  // namespace nightjar::bisect::search
