#include "service/cli/bisect_run.hpp"

#include <stdexcept>

#include "service/cli/checkout.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/merge_search.hpp"
#include "service/cli/result_file.hpp"
#include "service/cli/search_session.hpp"
#include "service/cli/value_path.hpp"
#include "service/cli/work_trees.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {

namespace {

void require_source(const BisectOptions& options) {
  const MeasureSource& source = options.source;
  if (seeks_failures(options) && (!source.is_last_line() || !options.only.empty()))
    throw BadInput(
        "cannot search with --find broken for a number: a run passes or fails by its exit status; "
        "leave --measure-file, --value, --measure-format and --only out");
  if (options.counter &&
      (!source.is_last_line() || !options.only.empty() || seeks_failures(options)))
    throw BadInput(
        "cannot count instructions with --metric instructions and read another number: leave "
        "--measure-file, --value, --measure-format, --only and --find broken out");
  if (!source.value.empty() && !source.format.empty())
    throw BadInput(
        "--value and --measure-format exclude each other: one is a place in any JSON "
        "file, the other a format that is known");
  if (!source.file.empty()) require_result_place(source.file);
  try {
    if (!source.value.empty()) path_steps(source.value);
  } catch (const std::invalid_argument& error) {
    throw BadInput(std::string("cannot take --value: ") + error.what());
  }
}

}  // namespace

void check_options(const BisectOptions& options) {
  if (options.measure.find_first_not_of(" \t\n") == std::string::npos)
    throw BadInput("--measure is empty; it is a command that prints a number as its last line");
  if (seeks_failures(options) && prefers_more(options))
    throw BadInput(
        "cannot search with --find broken --direction higher: a run passes or fails; "
        "leave --direction out");
  require_source(options);
  if (!options.state.empty()) require_place_for(options.state);
}

int bisect_run(const BisectOptions& options, std::stop_token stop) {
  check_options(options);
  const SourceRepository repository(options.repository, stop);
  const SearchName name{repository.commit_of(options.good, "good end"),
                        repository.commit_of(options.bad, "bad end"),
                        options.measure,
                        options.build,
                        direction_word(options),
                        options.find,
                        options.threshold,
                        options.paths,
                        options.source.file,
                        options.source.value,
                        options.source.format,
                        options.only,
                        metric_word(options)};
  auto commits = repository.range(name.good, name.bad, options.paths);
  commits.insert(commits.begin(), name.good);
  KeptSearch kept(options.state, name, repository.git_folders());
  WorkTrees trees(repository, options, stop);
  SearchSession session(
      options, trees, kept, [&](const std::string& commit) { return repository.facts(commit); },
      stop);
  const auto into_merges = [&](const SearchReport& report) {
    const auto search_branch = [&](const std::string& merge,
                                   const std::vector<std::string>& branch) {
      return session.search_inside(merge, branch, report);
    };
    return MergeSearch(repository, options, search_branch).find(report.named);
  };
  say(stderr, "searching %zu commits\n", commits.size() - 1);
  return session.run(commits, options.into_merges ? SearchSession::GoOn(into_merges) : nullptr);
}

}  // namespace nightjar::cli
