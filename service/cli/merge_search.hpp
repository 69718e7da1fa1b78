// Goes on in the branch that a merge brought, where the merge is a culprit: one more search over
// the branch's own commits. Used by `bisect run --into-merges`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "service/cli/checkout.hpp"
#include "service/cli/search_loop.hpp"
#include "service/cli/search_report.hpp"

namespace nightjar::cli {

class MergeSearch {
 public:
  // Searches these commits of a merge's branch, the good end first. Throws as SearchLoop does.
  using Searcher = std::function<SearchReport(const std::string& merge,
                                              const std::vector<std::string>& commits)>;

  MergeSearch(const SourceRepository& repository, const BisectOptions& options, Searcher searcher);
  // For each culprit that is a merge, and for merges inside it.
  std::vector<MergeFinding> find(const std::vector<ReportedStep>& culprits);

 private:
  using Blamed = MergeFinding::Blamed;
  // `known`: histories that had their commits before the merge. Returns who is blamed.
  Blamed go_into(const std::string& merge, std::vector<std::string> known);
  bool search_branch(const MergedBranch& branch, MergeFinding& finding);
  void judge(MergeFinding& finding, const std::vector<std::string>& known);

  const SourceRepository& repository_;
  const BisectOptions& options_;
  Searcher searcher_;
  std::vector<MergeFinding> findings_;
};

}  // namespace nightjar::cli
