#include "service/cli/bisect_run.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <stdexcept>
#include <unistd.h>

#include "runner/process/failure.hpp"
#include "service/cli/benchmarks.hpp"
#include "service/cli/chart.hpp"
#include "service/cli/checkout.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/lost_runs.hpp"
#include "service/cli/many_report.hpp"
#include "service/cli/progress_file.hpp"
#include "service/cli/result_file.hpp"
#include "service/cli/search_answer.hpp"
#include "service/cli/search_page.hpp"
#include "service/cli/value_path.hpp"
#include "service/cli/work_trees.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {
namespace {
using bisect::Answer;

bisect::SearchPolicy policy_of(const BisectOptions& options) {
  bisect::SearchPolicy policy;
  policy.threshold = options.threshold;
  policy.of_failures = seeks_failures(options);
  policy.max_runs = options.max_runs;
  policy.builds_at_once = options.build.empty() ? 1 : options.jobs;
  policy.build_ends_session = !options.build.empty();
  if (options.build.empty()) policy.build_cost = 1;
  return policy;
}

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
              direction_word(options),
              options.find,
              options.threshold,
              options.paths,
              options.source.file,
              options.source.value,
              options.source.format,
              options.only},
        trees_(repository_, options, stop),
        commits_(commits_of(repository_, name_)),
        benchmarks_(static_cast<int>(commits_.size()) - 1, policy_of(options), options) {
    find_place();
  }

  bool is_kept() const { return is_kept_; }
  // What is left of the search, for whoever was interrupted.
  std::string kept() const {
    if (runs() == 0) return "nothing was measured";
    if (!is_kept_) return "nothing was kept";
    return options_.state.empty() ? "the same command with --state " + file_.string() + " goes on"
                                  : "the same command goes on from --state " + file_.string();
  }

  int run() {
    say(stderr, "searching %d commits\n", last_commit());
    if (offered_ > 0)
      say(stderr, "an earlier search kept %zu runs; to go on from there: --state %s\n", offered_,
          file_.c_str());
    while (const auto step = benchmarks_.next()) {
      show_progress();
      take(*step);
    }
    if (benchmarks_.are_many()) save();  // the answers, too
    return print();
  }

 private:
  static std::vector<std::string> commits_of(const SourceRepository& repository,
                                             const SearchName& name) {
    auto commits = repository.range(name.good, name.bad, name.paths);
    commits.insert(commits.begin(), name.good);
    return commits;
  }
  int last_commit() const { return static_cast<int>(commits_.size()) - 1; }
  std::size_t runs() const { return static_cast<std::size_t>(benchmarks_.shared().runs()); }
  const std::string& sha_of(int commit) const { return commits_[static_cast<std::size_t>(commit)]; }

  // Goes on from --state. Without it finds a place of our own, and what an earlier search kept.
  void find_place() {
    file_ = options_.state;
    if (!file_.empty()) {
      const SavedSearch saved = load_progress(file_, name_);
      benchmarks_.restore(saved);
      is_kept_ = !saved.runs.empty();
      if (is_kept_) session_ = saved.runs.back().session + 1;
      return;
    }
    file_ = usual_place(name_, repository_.git_folders());
    try {
      if (!file_.empty()) offered_ = load_progress(file_, name_).runs.size();
    } catch (const BadInput&) {  // whatever it is, the next save replaces it
    }
  }

  void show_progress() {
    const auto& parts = benchmarks_.shared().parts();
    if (!benchmarks_.are_many()) {
      const bisect::Belief belief = parts.empty() ? bisect::Belief{} : parts.front().belief;
      draw(belief, "");
      chart_.show(belief, runs(), commits_);
      return;
    }
    const auto open =
        std::count_if(parts.begin(), parts.end(), [](const auto& part) { return part.is_open(); });
    const std::size_t served = benchmarks_.shared().served();
    draw(parts[served].belief, "");
    say(stderr, "%s; %td of %zu benchmarks are open; for %s\n",
        chart_text(parts[served].belief, runs(), commits_).c_str(), open, parts.size(),
        shown_lines(benchmarks_.subjects()[served].benchmark).c_str());
  }

  void take(const bisect::Measure& step) {
    if (step.new_session && runs() > 0) ++session_;
    if (options_.jobs > 1) build(step);
    for (const int commit : step.order)
      if (!take_run(commit)) return;
  }

  // Measures until there is a number. False if the commit turned out to be untestable.
  bool take_run(int commit) {
    while (true) {
      if (stop_.stop_requested()) throw runner::Stopped();
      CommitMeasurement measured = trees_.measure(sha_of(commit));
      if (!measured.untestable.empty()) return mark_untestable(commit, measured.untestable);
      if (measured.lost.empty()) {
        measured.lost = one_line(benchmarks_.take(session_, commit, measured.values));
      }
      lost_.note(commit, !measured.lost.empty());
      if (measured.lost.empty()) {
        benchmarks_.note_built(commit);
        save();
        return true;
      }
      if (lost_.condemn(commit)) return give_up(commit, measured);
      chart_.leave();
      say(stderr, "a run of %s is lost, it is measured again: its measure %s\n",
          sha_of(commit).substr(0, 12).c_str(), measured.lost.c_str());
    }
  }

  bool give_up(int commit, const CommitMeasurement& last) {
    if (last.is_broken && !benchmarks_.has_runs_of(commit))
      throw Broken("the measure of " + sha_of(commit).substr(0, 12) + " " + last.lost +
                   last.advice);
    return mark_untestable(commit, "its measure " + last.lost);
  }

  // A round of builds: what is measured now, and what probably comes next.
  void build(const bisect::Measure& step) {
    std::set<int> round(step.order.begin(), step.order.end());
    round.insert(step.build_too.begin(), step.build_too.end());
    std::vector<std::string> wanted;
    for (const int commit : round) wanted.push_back(sha_of(commit));
    trees_.prepare(wanted);
    for (const int commit : step.build_too) {
      const std::string& problem = trees_.problem(sha_of(commit));
      if (problem.empty())
        benchmarks_.note_built(commit);
      else
        mark_untestable(commit, problem);
    }
  }

  bool mark_untestable(int commit, const std::string& why) {
    const std::string& sha = sha_of(commit);
    if (commit == 0 || commit == last_commit())
      throw Broken(std::string("the ") + (commit == 0 ? "good" : "bad") + " end " +
                   sha.substr(0, 12) + " cannot be tested: " + why);
    chart_.leave();
    say(stderr, "%s is untestable: %s\n", sha.substr(0, 12).c_str(), why.c_str());
    benchmarks_.note_untestable(commit);
    save();
    return false;
  }

  void save() {
    if (!options_.state.empty()) {
      save_progress(file_, name_, benchmarks_.saved());
      is_kept_ = true;
    } else if (!file_.empty() && runs() > offered_) {  // what was offered stays till then
      is_kept_ = save_if_possible(file_, name_, benchmarks_.saved());
      if (!is_kept_) file_.clear();
    }
  }

  void draw(const bisect::Belief& belief, const std::string& answer) const {
    const auto& shared = benchmarks_.shared();
    if (options_.html.empty() || shared.parts().empty()) return;
    const bisect::SearchLog& log = shared.parts()[shared.served()].log;
    write_page(options_.html, {options_.measure, commits_, log.runs, belief, answer});
  }

  // An answer ends what an interruption would have gone on with.
  void forget_unless_undecided() const {
    const auto& parts = benchmarks_.shared().parts();
    const bool is_undecided = std::any_of(parts.begin(), parts.end(), [](const auto& part) {
      return part.answer && part.answer->outcome == Answer::Outcome::inconclusive;
    });
    std::error_code ignored;
    if (options_.state.empty() && !is_undecided) std::filesystem::remove(file_, ignored);
  }

  ManyReport report() const {
    const AnswerContext context{options_, repository_, commits_, trees_.builds(),
                                is_kept_ ? file_ : std::filesystem::path()};
    ManyReport all{
        {}, {}, benchmarks_.shared().runs(), options_.build.empty() ? 0 : trees_.builds()};
    const auto& parts = benchmarks_.shared().parts();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const SearchSubject& subject = benchmarks_.subjects()[i];
      if (parts[i].answer)
        all.benchmarks.push_back(report_of(parts[i], subject, context));
      else
        all.left_out.emplace_back(subject.benchmark, benchmarks_.left_out(i));
    }
    return all;
  }

  int print() const {
    const ManyReport all = report();
    forget_unless_undecided();
    const bool many = benchmarks_.are_many();
    const std::string text =
        shown_lines(many ? many_text(all) : report_text(all.benchmarks.front()));
    draw(benchmarks_.shared().parts()[benchmarks_.shared().served()].belief, text);
    const std::string json = many ? many_json(all) : report_json(all.benchmarks.front());
    std::fputs((options_.json ? json : text).c_str(), stdout);
    return has_culprit(all) ? 0 : 1;
  }

  const BisectOptions& options_;
  std::stop_token stop_;
  SourceRepository repository_;
  SearchName name_;
  WorkTrees trees_;
  std::filesystem::path file_;        // of --state, or a place of our own; empty: not kept
  bool is_kept_ = false;              // the file has what was measured
  std::size_t offered_ = 0;           // runs that an earlier search left there
  std::vector<std::string> commits_;  // the good end first
  Benchmarks benchmarks_;
  LostRuns lost_;  // runs that gave no benchmark a number
  Chart chart_{::isatty(STDERR_FILENO) != 0};
  int session_ = 0;
};

void require_source(const BisectOptions& options) {
  const MeasureSource& source = options.source;
  if (seeks_failures(options) && (!source.is_last_line() || !options.only.empty()))
    throw BadInput(
        "cannot search with --find broken for a number: a run passes or fails by its exit status; "
        "leave --measure-file, --value, --measure-format and --only out");
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

int bisect_run(const BisectOptions& options, std::stop_token stop) {
  if (options.measure.find_first_not_of(" \t\n") == std::string::npos)
    throw BadInput("--measure is empty; it is a command that prints a number as its last line");
  if (seeks_failures(options) && prefers_more(options))
    throw BadInput(
        "cannot search with --find broken --direction higher: a run passes or fails; "
        "leave --direction out");
  require_source(options);
  if (!options.state.empty()) require_place_for(options.state);
  Search search(options, std::move(stop));
  try {
    return search.run();
  } catch (const runner::Stopped&) {
    say(stderr, "nightjar: stopped; %s\n", search.kept().c_str());
    return 1;
  } catch (const Broken& error) {
    if (!search.is_kept()) throw;
    throw Broken(std::string(error.what()) + "; " + search.kept());
  }
}

}  // namespace nightjar::cli
