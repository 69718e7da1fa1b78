#include "service/cli/bisect_run.hpp"

#include <cstdio>

#include "runner/process/failure.hpp"
#include "service/cli/checkout.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/kept_search.hpp"
#include "service/cli/merge_search.hpp"
#include "service/cli/search_findings.hpp"
#include "service/cli/search_loop.hpp"
#include "service/cli/search_page.hpp"
#include "service/cli/search_report.hpp"
#include "service/cli/work_trees.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {
namespace {

class Search {
 public:
  Search(const BisectOptions& options, std::stop_token stop)
      : options_(options),
        stop_(stop),
        repository_(options.repository, stop),
        name_{repository_.commit_of(options.good, "good end"),
              repository_.commit_of(options.bad, "bad end"),
              options.measure,
              options.build,
              options.direction,
              options.find,
              options.threshold,
              options.paths},
        trees_(repository_, options, stop),
        commits_(repository_.range(name_.good, name_.bad, options.paths)),
        kept_(options.state, name_, repository_.git_folders()) {
    commits_.insert(commits_.begin(), name_.good);
  }

  const KeptSearch& kept() const { return kept_; }

  int run() {
    say(stderr, "searching %zu commits\n", commits_.size() - 1);
    if (!kept_.offer().empty()) say(stderr, "%s\n", kept_.offer().c_str());
    const SearchResult result =
        search(commits_, [&](const SearchResult& so_far) { draw(so_far, ""); });
    SearchReport report = reported(result);
    using Outcome = bisect::SearchOutcome;
    if (options_.into_merges && report.outcome == Outcome::culprit)
      report.inside_merges = inside(report.named);
    // An answer ends what an interruption would have gone on with.
    if (result.answer.outcome != Outcome::inconclusive) kept_.forget();
    const std::string text = shown_lines(report_text(report));
    draw(result, text);
    std::fputs((options_.json ? report_json(report) : text).c_str(), stdout);
    return result.answer.outcome == Outcome::culprit ? 0 : 1;
  }

 private:
  SearchResult search(const std::vector<std::string>& commits, SearchLoop::Draw draw) {
    const SearchEnds ends{commits.front(), commits.back()};
    const auto save = [&](const bisect::SearchLog& log) { kept_.save(ends, log); };
    return SearchLoop(options_, trees_, commits, kept_.log(ends), save, std::move(draw), stop_)
        .run();
  }

  SearchReport reported(const SearchResult& result) const {
    SearchReport report = report_of(
        options_, result, [&](const std::string& commit) { return repository_.facts(commit); });
    report.kept = kept_.file();
    return report;
  }

  std::vector<MergeFinding> inside(const std::vector<ReportedStep>& culprits) {
    const auto search_branch = [&](const std::string& merge,
                                   const std::vector<std::string>& commits) {
      say(stderr, "inside the merge %s: searching %zu commits\n", merge.substr(0, 12).c_str(),
          commits.size() - 1);
      return reported(search(commits, [](const SearchResult&) {}));
    };
    return MergeSearch(repository_, options_, search_branch).find(culprits);
  }

  void draw(const SearchResult& result, const std::string& answer) const {
    if (options_.html.empty()) return;
    write_page(options_.html,
               {options_.measure, result.commits, result.log.runs, result.belief, answer});
  }

  const BisectOptions& options_;
  std::stop_token stop_;
  SourceRepository repository_;
  SearchName name_;
  WorkTrees trees_;
  std::vector<std::string> commits_;  // the good end first
  KeptSearch kept_;
};

}  // namespace

int bisect_run(const BisectOptions& options, std::stop_token stop) {
  if (options.measure.find_first_not_of(" \t\n") == std::string::npos)
    throw BadInput("--measure is empty; it is a command that prints a number as its last line");
  if (seeks_failures(options) && options.direction == "higher")
    throw BadInput(
        "cannot search with --find broken --direction higher: a run passes or fails; "
        "leave --direction out");
  if (!options.state.empty()) require_place_for(options.state);
  Search search(options, std::move(stop));
  try {
    return search.run();
  } catch (const runner::Stopped&) {
    say(stderr, "nightjar: stopped; %s\n", search.kept().words().c_str());
    return 1;
  } catch (const Broken& error) {
    if (!search.kept().is_kept()) throw;
    throw Broken(std::string(error.what()) + "; " + search.kept().words());
  }
}

}  // namespace nightjar::cli
