#include "service/cli/merge_search.hpp"

#include "service/cli/failure.hpp"

namespace nightjar::cli {
namespace {
using bisect::SearchOutcome;

// The step is one commit, and that is a merge.
bool is_merge(const ReportedStep& step) {
  return step.facts.size() == 1 && step.facts.front().is_merge;
}

std::string unlike(const SearchReport& branch) {
  if (branch.outcome == SearchOutcome::inconclusive)
    return "the search of its branch could not tell";
  return "its branch alone does not show the change: the two sides make it together, or the merge "
         "changed something of its own";
}

}  // namespace

MergeSearch::MergeSearch(const SourceRepository& repository, const BisectOptions& options,
                         Searcher searcher)
    : repository_(repository), options_(options), searcher_(std::move(searcher)) {}

std::vector<MergeFinding> MergeSearch::find(const std::vector<ReportedStep>& culprits) {
  for (const ReportedStep& step : culprits)
    if (is_merge(step)) go_into(step.commits.front(), {});
  return std::move(findings_);
}

MergeFinding::Blamed MergeSearch::go_into(const std::string& merge,
                                          std::vector<std::string> known) {
  const bool is_inner = !known.empty();
  const std::size_t place = findings_.size();
  findings_.emplace_back();  // before those of merges inside this one
  MergeFinding finding;
  finding.merge = merge;
  finding.blamed = is_inner ? Blamed::nobody : Blamed::merge;
  finding.reason = is_inner ? "all that it brought was there before the merge around it"
                            : "its branch brought no commit that was not there before";
  const auto parents = repository_.parents(merge);
  known.push_back(parents.front());
  for (std::size_t i = 1; i < parents.size(); ++i) {
    const MergedBranch branch = repository_.branch(parents[i], known);
    if (branch.commits > 0 && finding.blamed != Blamed::branch) finding.blamed = Blamed::merge;
    if (branch.commits > 0 && search_branch(branch, finding)) judge(finding, known);
    known.push_back(parents[i]);  // what a further branch shares with this one was searched
  }
  const Blamed blamed = finding.blamed;
  findings_[place] = std::move(finding);
  return blamed;
}

// False if the branch cannot be searched, which is then the finding's reason.
bool MergeSearch::search_branch(const MergedBranch& branch, MergeFinding& finding) {
  const auto refused = [&](const std::string& why) {
    if (finding.blamed != Blamed::branch) finding.reason = why;
    return false;
  };
  if (branch.point.empty())
    return refused(
        "the history that it brought has nothing in common with the one before, so "
        "there is no good end");
  try {
    auto commits = repository_.range(branch.point, branch.tip, options_.paths);
    commits.insert(commits.begin(), branch.point);
    finding.branches.push_back(searcher_(finding.merge, commits));
    return true;
  } catch (const BadInput& error) {
    return refused(std::string("its branch cannot be searched: ") + error.what());
  } catch (const Broken& error) {
    return refused(std::string("its branch cannot be searched: ") + error.what());
  }
}

void MergeSearch::judge(MergeFinding& finding, const std::vector<std::string>& known) {
  const SearchReport& branch = finding.branches.back();
  bool explained = branch.outcome == SearchOutcome::several_small;
  if (branch.outcome == SearchOutcome::culprit)
    for (const ReportedStep& step : branch.named)
      explained |= !is_merge(step) || go_into(step.commits.front(), known) != Blamed::nobody;
  if (explained) {
    finding.blamed = Blamed::branch;
    finding.reason = "its branch shows the change";
  } else if (finding.blamed != Blamed::branch) {
    finding.reason = branch.outcome == SearchOutcome::culprit
                         ? "what its branch shows was there before the merge"
                         : unlike(branch);
  }
}

}  // namespace nightjar::cli
