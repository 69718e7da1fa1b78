#include "service/cli/bisect_run.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <stdexcept>
#include <unistd.h>

#include "bisect/search.hpp"
#include "runner/process/failure.hpp"
#include "service/cli/chart.hpp"
#include "service/cli/checkout.hpp"
#include "service/cli/ends.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/lost_runs.hpp"
#include "service/cli/metric_direction.hpp"
#include "service/cli/progress_file.hpp"
#include "service/cli/quantity_text.hpp"
#include "service/cli/result_file.hpp"
#include "service/cli/search_page.hpp"
#include "service/cli/search_report.hpp"
#include "service/cli/value_path.hpp"
#include "service/cli/work_trees.hpp"
#include "storage/base/foreign_text.hpp"
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
              direction_word(options),
              options.find,
              options.threshold,
              options.paths,
              options.source.file,
              options.source.value,
              options.source.format,
              options.only},
        trees_(repository_, options, stop) {
    commits_ = repository_.range(name_.good, name_.bad, options.paths);
    commits_.insert(commits_.begin(), name_.good);
    log_.commits = static_cast<int>(commits_.size()) - 1;
    find_place();
    policy_.threshold = options.threshold;
    policy_.of_failures = seeks_failures(options);
    policy_.max_runs = options.max_runs;
    policy_.builds_at_once = options.build.empty() ? 1 : options.jobs;
    policy_.build_ends_session = !options.build.empty();
    if (options.build.empty()) policy_.build_cost = 1;
    if (!log_.runs.empty()) session_ = log_.runs.back().session + 1;
  }

  bool is_kept() const { return is_kept_; }
  // What is left of the search, for whoever was interrupted.
  std::string kept() const {
    if (log_.runs.empty()) return "nothing was measured";
    if (!is_kept_) return "nothing was kept";
    return options_.state.empty() ? "the same command with --state " + file_.string() + " goes on"
                                  : "the same command goes on from --state " + file_.string();
  }

  int run() {
    say(stderr, "searching %d commits\n", log_.commits);
    if (offered_ > 0)
      say(stderr, "an earlier search kept %zu runs; to go on from there: --state %s\n", offered_,
          file_.c_str());
    while (true) {
      policy_.of_inverses = seeks_less(options_);
      const bisect::NextStep next =
          bisect::next_step(as_costs(log_, seeks_less(options_)), policy_);
      if (const auto* answer = std::get_if<Answer>(&next.step)) return print(*answer, next.belief);
      draw(next.belief, "");
      chart_.show(next.belief, log_.runs.size(), commits_);
      take(std::get<bisect::Measure>(next.step));
    }
  }

 private:
  // Goes on from --state. Without it finds a place of our own, and what an earlier search kept.
  void find_place() {
    file_ = options_.state;
    if (!file_.empty()) {
      load_progress(file_, name_, log_, subject_);
      if (subject_) apply_subject();
      is_kept_ = !log_.runs.empty();
      return;
    }
    file_ = usual_place(name_, repository_.git_folders());
    bisect::SearchLog earlier;
    try {
      std::optional<SearchSubject> ignored;
      if (!file_.empty()) load_progress(file_, name_, earlier, ignored);
    } catch (const BadInput&) {  // whatever it is, the next save replaces it
    }
    offered_ = earlier.runs.size();
  }

  void take(const bisect::Measure& step) {
    if (step.new_session && !log_.runs.empty()) ++session_;
    if (options_.jobs > 1) build(step);
    for (const int commit : step.order)
      if (!take_run(commit)) return;
  }

  // Measures until there is a number. False if the commit turned out to be untestable.
  bool take_run(int commit) {
    const std::string& sha = commits_[static_cast<std::size_t>(commit)];
    while (true) {
      if (stop_.stop_requested()) throw runner::Stopped();
      CommitMeasurement measured = trees_.measure(sha);
      if (!measured.untestable.empty()) return mark_untestable(commit, measured.untestable);
      const auto value = the_number(measured);
      lost_.note(commit, !value);
      if (value) {
        log_.runs.push_back({session_, commit, *value});
        note_built(commit);
        save();
        return true;
      }
      if (lost_.condemn(commit)) return give_up(commit, measured);
      chart_.leave();
      say(stderr, "a run of %s is lost, it is measured again: its measure %s\n",
          sha.substr(0, 12).c_str(), measured.lost.c_str());
    }
  }

  // What the search is about: one benchmark, which the first run tells. nullopt: it has no number.
  std::optional<double> the_number(CommitMeasurement& measured) {
    std::erase_if(measured.values, [&](const MeasuredValue& one) {
      return !options_.only.empty() && !is_named_by(options_.only, one.name);
    });
    if (measured.values.size() > 1) throw BadInput(too_many(measured.values));
    if (measured.values.empty()) {
      if (measured.lost.empty()) measured.lost = "has no benchmark that --only fits";
      return std::nullopt;
    }
    const MeasuredValue& one = measured.values.front();
    if (!one.problem.empty()) {
      measured.lost = one.problem;
      measured.is_broken = true;
      return std::nullopt;
    }
    if (!subject_ && !one.name.empty()) {
      subject_ = {one.name, one.unit, one.direction == Direction::higher_is_better};
      apply_subject();
    }
    return one.value;
  }

  // The user's word about the direction comes before the format's.
  void apply_subject() {
    if (options_.direction.empty() && subject_->more_is_better) options_.direction = "higher";
  }

  static std::string too_many(const std::vector<MeasuredValue>& values) {
    std::string names;
    for (const MeasuredValue& one : values) names += (names.empty() ? "" : ", ") + one.name;
    return "cannot search for several benchmarks at once: " + shortened(names, 300) +
           "; --only GLOB chooses one";
  }

  bool give_up(int commit, const CommitMeasurement& last) {
    const bool had_numbers = std::any_of(log_.runs.begin(), log_.runs.end(),
                                         [&](const auto& run) { return run.commit == commit; });
    if (last.is_broken && !had_numbers)
      throw Broken("the measure of " + commits_[static_cast<std::size_t>(commit)].substr(0, 12) +
                   " " + last.lost + last.advice);
    return mark_untestable(commit, "its measure " + last.lost);
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
      if (problem.empty())
        note_built(commit);
      else
        mark_untestable(commit, problem);
    }
  }

  bool mark_untestable(int commit, const std::string& why) {
    const std::string& sha = commits_[static_cast<std::size_t>(commit)];
    if (commit == 0 || commit == log_.commits)
      throw Broken(std::string("the ") + (commit == 0 ? "good" : "bad") + " end " +
                   sha.substr(0, 12) + " cannot be tested: " + why);
    chart_.leave();
    say(stderr, "%s is untestable: %s\n", sha.substr(0, 12).c_str(), why.c_str());
    log_.untestable.push_back(commit);
    save();
    return false;
  }

  void note_built(int commit) {
    const bool inner = commit != 0 && commit != log_.commits;
    if (inner && std::find(log_.built.begin(), log_.built.end(), commit) == log_.built.end())
      log_.built.push_back(commit);
  }

  void save() {
    if (!options_.state.empty()) {
      save_progress(file_, name_, log_, subject_);
      is_kept_ = true;
    } else if (!file_.empty() && log_.runs.size() > offered_) {  // what was offered stays till then
      is_kept_ = save_if_possible(file_, name_, log_, subject_);
      if (!is_kept_) file_.clear();
    }
  }

  void draw(const bisect::Belief& belief, const std::string& answer) const {
    if (options_.html.empty()) return;
    write_page(options_.html, {options_.measure, commits_, log_.runs, belief, answer});
  }

  std::vector<std::string> cell(int first, int last) const {
    return {commits_.begin() + first, commits_.begin() + last + 1};
  }

  int print(const Answer& answer, const bisect::Belief& belief) const {
    const SearchReport report = report_of(answer, belief);
    // An answer ends what an interruption would have gone on with.
    std::error_code ignored;
    if (options_.state.empty() && answer.outcome != Answer::Outcome::inconclusive)
      std::filesystem::remove(file_, ignored);
    const std::string text = shown_lines(report_text(report));
    draw(belief, text);
    std::fputs((options_.json ? report_json(report) : text).c_str(), stdout);
    return answer.outcome == Answer::Outcome::culprit ? 0 : 1;
  }

  SearchReport report_of(const Answer& answer, const bisect::Belief& belief) const {
    SearchReport report{
        options_,
        answer.outcome,
        {},
        {},
        answer.rule,
        seeks_failures(options_) ? failure_ends_of(log_) : ends_of(log_, seeks_less(options_)),
        name_.good,
        name_.bad,
        log_.runs.size(),
        trees_.builds(),
        {},
        is_kept_ ? file_ : std::filesystem::path(),
        subject_};
    for (const auto& step : answer.culprits) report.named.push_back(reported(step));
    if (seeks_failures(options_)) add_rates(answer, report.named);
    for (const auto& step : answer.smaller) report.smaller.push_back(reported(step));
    for (const auto& mass : belief.cells)
      report.posterior.push_back({cell(mass.first, mass.last), mass.probability});
    if (seeks_failures(options_)) return report;
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

  // The rates on both sides of each step, from all runs up to the next one.
  void add_rates(const Answer& answer, std::vector<ReportedStep>& named) const {
    for (std::size_t i = 0; i < named.size(); ++i) {
      const auto& steps = answer.culprits;
      const int from = i == 0 ? 0 : steps[i - 1].last;
      const int to = i + 1 == steps.size() ? log_.commits : steps[i + 1].first - 1;
      named[i].before = failure_rate_of(log_.runs, from, steps[i].first - 1);
      named[i].after = failure_rate_of(log_.runs, steps[i].last, to);
    }
  }

  std::string rule_of(const Answer& answer, const std::optional<Ends>& ends) const {
    if (answer.culprits.empty() && ends)
      if (const auto opposite = opposite_change(*ends, options_); !opposite.empty())
        return opposite;
    return answer.rule;
  }

  // With the levels beside the step, unless add_rates() says them.
  ReportedStep reported(bisect::NamedStep step) const {
    const auto change = measured_ratio({step.ratio, step.low, step.high}, seeks_less(options_));
    step.ratio = change.ratio;
    step.low = change.low;
    step.high = change.high;
    ReportedStep out{step,
                     cell(step.first, step.last),
                     {},
                     seeks_failures(options_) ? std::nullopt : level_of(log_.runs, step.first - 1),
                     seeks_failures(options_) ? std::nullopt : level_of(log_.runs, step.last)};
    for (const std::string& sha : out.commits) out.facts.push_back(repository_.facts(sha));
    return out;
  }

  BisectOptions options_;  // with the subject's direction
  std::stop_token stop_;
  SourceRepository repository_;
  SearchName name_;
  WorkTrees trees_;
  std::filesystem::path file_;        // of --state, or a place of our own; empty: not kept
  bool is_kept_ = false;              // the file has what was measured
  std::size_t offered_ = 0;           // runs that an earlier search left there
  std::vector<std::string> commits_;  // the good end first
  bisect::SearchLog log_;             // of measured values
  std::optional<SearchSubject> subject_;
  bisect::SearchPolicy policy_;
  LostRuns lost_;
  Chart chart_{::isatty(STDERR_FILENO) != 0};
  int session_ = 0;
};

void require_source(const BisectOptions& options) {
  const MeasureSource& source = options.source;
  if (seeks_failures(options) && (!source.is_last_line() || !options.only.empty()))
    throw BadInput(
        "cannot search with --find broken for a number: a run passes or fails by its exit status; "
        "leave --measure-file, --value, --measure-format and --only out");
  if (!options.only.empty() && source.is_last_line())
    throw BadInput("--only chooses among the benchmarks of a --measure-file or --measure-format");
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
