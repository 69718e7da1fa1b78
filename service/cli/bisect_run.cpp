#include "service/cli/bisect_run.hpp"

#include "service/cli/checkout.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/merge_search.hpp"
#include "service/cli/search_session.hpp"
#include "service/cli/work_trees.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {

void check_options(const BisectOptions& options) {
  if (options.measure.find_first_not_of(" \t\n") == std::string::npos)
    throw BadInput("--measure is empty; it is a command that prints a number as its last line");
  if (seeks_failures(options) && options.direction == "higher")
    throw BadInput(
        "cannot search with --find broken --direction higher: a run passes or fails; "
        "leave --direction out");
  if (!options.state.empty()) require_place_for(options.state);
}

int bisect_run(const BisectOptions& options, std::stop_token stop) {
  check_options(options);
  const SourceRepository repository(options.repository, stop);
  const SearchName name{repository.commit_of(options.good, "good end"),
                        repository.commit_of(options.bad, "bad end"),
                        options.measure,
                        options.build,
                        options.direction,
                        options.find,
                        options.threshold,
                        options.paths};
  auto commits = repository.range(name.good, name.bad, options.paths);
  commits.insert(commits.begin(), name.good);
  KeptSearch kept(options.state, name, repository.git_folders());
  WorkTrees trees(repository, options, stop);
  SearchSession session(
      options, trees, kept, [&](const std::string& commit) { return repository.facts(commit); },
      stop);
  const auto search_branch = [&](const std::string& merge, const std::vector<std::string>& branch) {
    say(stderr, "inside the merge %s: searching %zu commits\n", short_name(merge).c_str(),
        branch.size() - 1);
    return session.search_inside(branch);
  };
  const auto into_merges = [&](const std::vector<ReportedStep>& culprits) {
    return MergeSearch(repository, options, search_branch).find(culprits);
  };
  say(stderr, "searching %zu commits\n", commits.size() - 1);
  return session.run(commits, options.into_merges ? SearchSession::GoOn(into_merges) : nullptr);
}

}  // namespace nightjar::cli
