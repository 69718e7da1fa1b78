#include "service/cli/bisect_run.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <unistd.h>

#include "bisect/search.hpp"
#include "runner/process/failure.hpp"
#include "service/cli/chart.hpp"
#include "service/cli/checkout.hpp"
#include "service/cli/ends.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/progress_file.hpp"
#include "service/cli/quantity_text.hpp"
#include "service/cli/search_report.hpp"
#include "service/cli/work_trees.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {
namespace {
using bisect::Answer;

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
              options.threshold},
        trees_(repository_, options, stop) {
    commits_ = repository_.range(name_.good, name_.bad);
    commits_.insert(commits_.begin(), name_.good);
    log_.commits = static_cast<int>(commits_.size()) - 1;
    if (!options.state.empty()) load_progress(options.state, name_, log_);
    policy_.threshold = options.threshold;
    policy_.of_inverses = seeks_less(options);
    policy_.max_runs = options.max_runs;
    policy_.builds_at_once = options.build.empty() ? 1 : options.jobs;
    policy_.build_ends_session = !options.build.empty();
    if (options.build.empty()) policy_.build_cost = 1;
    if (!log_.runs.empty()) session_ = log_.runs.back().session + 1;
  }

  int run() {
    say(stderr, "searching %d commits\n", log_.commits);
    while (true) {
      const bisect::NextStep next =
          bisect::next_step(as_costs(log_, seeks_less(options_)), policy_);
      if (const auto* answer = std::get_if<Answer>(&next.step)) return print(*answer, next.belief);
      chart_.show(next.belief, log_.runs.size(), commits_);
      take(std::get<bisect::Measure>(next.step));
    }
  }

 private:
  void take(const bisect::Measure& step) {
    if (step.new_session && !log_.runs.empty()) ++session_;
    if (options_.jobs > 1) build(step);
    for (const int commit : step.order) {
      const std::string& sha = commits_[static_cast<std::size_t>(commit)];
      if (stop_.stop_requested()) throw runner::Stopped();
      const CommitMeasurement measured = trees_.measure(sha);
      if (!measured.value) return mark_untestable(commit, measured.untestable);
      log_.runs.push_back({session_, commit, *measured.value});
      note_built(commit);
      save();
    }
  }

  // A round of builds: what is measured now, and what probably comes next.
  void build(const bisect::Measure& step) {
    std::set<int> round(step.order.begin(), step.order.end());
    round.insert(step.build_too.begin(), step.build_too.end());
    std::vector<std::string> wanted;
    for (const int commit : round) wanted.push_back(commits_[static_cast<std::size_t>(commit)]);
    trees_.prepare(wanted);
    for (const int commit : step.build_too) {
      const std::string& problem = trees_.problem(commits_[static_cast<std::size_t>(commit)]);
      problem.empty() ? note_built(commit) : mark_untestable(commit, problem);
    }
  }

  void mark_untestable(int commit, const std::string& why) {
    const std::string& sha = commits_[static_cast<std::size_t>(commit)];
    if (commit == 0 || commit == log_.commits)
      throw Broken(std::string("the ") + (commit == 0 ? "good" : "bad") + " end " +
                   sha.substr(0, 12) + " cannot be tested: " + why);
    chart_.leave();
    say(stderr, "%s is untestable: %s\n", sha.substr(0, 12).c_str(), why.c_str());
    log_.untestable.push_back(commit);
    save();
  }

  void note_built(int commit) {
    const bool inner = commit != 0 && commit != log_.commits;
    if (inner && std::find(log_.built.begin(), log_.built.end(), commit) == log_.built.end())
      log_.built.push_back(commit);
  }

  void save() const {
    if (!options_.state.empty()) save_progress(options_.state, name_, log_);
  }

  std::vector<std::string> cell(int first, int last) const {
    return {commits_.begin() + first, commits_.begin() + last + 1};
  }

  int print(const Answer& answer, const bisect::Belief& belief) const {
    const SearchReport report = report_of(answer, belief);
    std::fputs((options_.json ? report_json(report) : shown_lines(report_text(report))).c_str(),
               stdout);
    return answer.outcome == Answer::Outcome::culprit ? 0 : 1;
  }

  SearchReport report_of(const Answer& answer, const bisect::Belief& belief) const {
    SearchReport report{options_,
                        answer.outcome,
                        {},
                        {},
                        answer.rule,
                        ends_of(log_, seeks_less(options_)),
                        name_.good,
                        name_.bad,
                        log_.runs.size(),
                        trees_.builds(),
                        {}};
    for (const auto& step : answer.culprits) report.named.push_back(reported(step));
    for (const auto& step : answer.smaller) report.smaller.push_back(reported(step));
    for (const auto& mass : belief.cells)
      report.posterior.push_back({cell(mass.first, mass.last), mass.probability});
    report.rule = rule_of(answer, report.ends);
    // In units of a large threshold a small change is as good as none to the search, though the
    // ends show it.
    if (answer.outcome == Answer::Outcome::not_reproduced && report.ends &&
        differ_below(log_, seeks_less(options_), options_.threshold)) {
      report.outcome = Answer::Outcome::below_threshold;
      report.rule = "the ends differ by " + change_text(report.ends->change) +
                    "; below the threshold of " + percent_text(options_.threshold) +
                    ", nobody is blamed";
    }
    return report;
  }

  std::string rule_of(const Answer& answer, const std::optional<Ends>& ends) const {
    if (answer.culprits.empty() && ends)
      if (const auto opposite = opposite_change(*ends, options_); !opposite.empty())
        return opposite;
    return answer.rule;
  }

  ReportedStep reported(bisect::NamedStep step) const {
    const auto change = measured_ratio({step.ratio, step.low, step.high}, seeks_less(options_));
    step.ratio = change.ratio;
    step.low = change.low;
    step.high = change.high;
    ReportedStep out{step,
                     cell(step.first, step.last),
                     {},
                     level_of(log_.runs, step.first - 1),
                     level_of(log_.runs, step.last)};
    for (const std::string& sha : out.commits) out.facts.push_back(repository_.facts(sha));
    return out;
  }

  const BisectOptions& options_;
  std::stop_token stop_;
  SourceRepository repository_;
  SearchName name_;
  WorkTrees trees_;
  std::vector<std::string> commits_;  // the good end first
  bisect::SearchLog log_;             // of measured values
  bisect::SearchPolicy policy_;
  Chart chart_{::isatty(STDERR_FILENO) != 0};
  int session_ = 0;
};

}  // namespace

int bisect_run(const BisectOptions& options, std::stop_token stop) {
  if (options.measure.find_first_not_of(" \t\n") == std::string::npos)
    throw BadInput("--measure is empty; it is a command that prints a number as its last line");
  if (!options.state.empty()) require_place_for(options.state);
  return Search(options, std::move(stop)).run();
}

}  // namespace nightjar::cli
