#include "service/cli/search_loop.hpp"

#include <algorithm>
#include <set>
#include <unistd.h>

#include "runner/process/failure.hpp"
#include "service/cli/failure.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {
namespace {

bisect::SearchPolicy search_policy_of(const BisectOptions& options) {
  bisect::SearchPolicy policy;
  policy.threshold = options.threshold;
  policy.of_failures = seeks_failures(options);
  policy.max_runs = options.max_runs;
  policy.builds_at_once = options.build.empty() ? 1 : options.jobs;
  policy.build_ends_session = !options.build.empty();
  if (options.build.empty()) policy.build_cost = 1;
  return policy;
}

}  // namespace

SearchLoop::SearchLoop(const BisectOptions& options, Bench& bench,
                       const std::vector<std::string>& commits, const SavedSearch& saved, Save save,
                       Draw draw, std::stop_token stop)
    : options_(options),
      bench_(bench),
      save_(std::move(save)),
      draw_(std::move(draw)),
      stop_(std::move(stop)),
      result_{commits,
              Benchmarks(static_cast<int>(commits.size()) - 1, search_policy_of(options), options)},
      lost_(static_cast<int>(commits.size()) - 1),
      chart_(::isatty(STDERR_FILENO) != 0) {
  result_.benchmarks.restore(saved);
  if (!saved.runs.empty()) session_ = saved.runs.back().session + 1;
}

SearchResult SearchLoop::run() {
  const int built_before = bench_.builds();
  while (const auto step = result_.benchmarks.next()) {
    show_progress();
    take(*step);
  }
  if (result_.benchmarks.are_many()) save_(result_.benchmarks.saved());  // the answers, too
  result_.builds = bench_.builds() - built_before;
  return std::move(result_);
}

void SearchLoop::show_progress() {
  const auto& shared = result_.benchmarks.shared();
  if (shared.parts().empty()) return chart_.show({}, runs(), result_.commits);
  const auto& served = shared.parts()[shared.served()];
  draw_(served);
  if (!result_.benchmarks.are_many()) return chart_.show(served.belief, runs(), result_.commits);
  const auto open = std::count_if(shared.parts().begin(), shared.parts().end(),
                                  [](const auto& part) { return part.is_open(); });
  say(stderr, "%s; %td of %zu benchmarks are open; for %s\n",
      chart_text(served.belief, runs(), result_.commits).c_str(), open, shared.parts().size(),
      shown_lines(result_.benchmarks.subjects()[shared.served()].benchmark).c_str());
}

std::size_t SearchLoop::runs() const {
  return static_cast<std::size_t>(result_.benchmarks.shared().runs());
}

const std::string& SearchLoop::commit_at(int position) const {
  return result_.commits[static_cast<std::size_t>(position)];
}

void SearchLoop::take(const bisect::Measure& step) {
  if (step.new_session && runs() > 0) ++session_;
  if (options_.jobs > 1) build(step);
  for (const int commit : step.order)
    if (!take_run(commit)) return;
}

// Measures until there is a number. False if the commit turned out to be untestable.
bool SearchLoop::take_run(int commit) {
  const std::string& sha = commit_at(commit);
  while (true) {
    if (stop_.stop_requested()) throw runner::Stopped();
    Measurement measured = bench_.measure(sha);
    if (!measured.untestable.empty()) return mark_untestable(commit, measured.untestable);
    if (measured.lost.empty())
      measured.lost = one_line(result_.benchmarks.take(session_, commit, measured.values));
    lost_.note(commit, !measured.lost.empty());
    if (measured.lost.empty()) {
      result_.benchmarks.note_built(commit);
      save_(result_.benchmarks.saved());
      return true;
    }
    if (lost_.condemn(commit)) return give_up(commit, measured);
    chart_.leave();
    say(stderr, "a run of %s is lost, it is measured again: its measure %s\n",
        short_name(sha).c_str(), measured.lost.c_str());
  }
}

bool SearchLoop::give_up(int commit, const Measurement& last) {
  if (last.is_broken && !result_.benchmarks.has_runs_of(commit))
    throw Broken("the measure of " + short_name(commit_at(commit)) + " " + last.lost + last.advice);
  return mark_untestable(commit, "its measure " + last.lost);
}

// A round of builds: what is measured now, and what probably comes next.
void SearchLoop::build(const bisect::Measure& step) {
  std::set<int> round(step.order.begin(), step.order.end());
  round.insert(step.build_too.begin(), step.build_too.end());
  std::vector<std::string> wanted;
  for (const int commit : round) wanted.push_back(commit_at(commit));
  bench_.prepare(wanted);
  for (const int commit : step.build_too) {
    const std::string& problem = bench_.problem(commit_at(commit));
    if (problem.empty())
      result_.benchmarks.note_built(commit);
    else
      mark_untestable(commit, problem);
  }
}

bool SearchLoop::mark_untestable(int commit, const std::string& why) {
  const std::string& sha = commit_at(commit);
  if (commit == 0 || commit == last_commit())
    throw Broken(std::string("the ") + (commit == 0 ? "good" : "bad") + " end " + short_name(sha) +
                 " cannot be tested: " + why);
  chart_.leave();
  say(stderr, "%s is untestable: %s\n", short_name(sha).c_str(), why.c_str());
  result_.benchmarks.note_untestable(commit);
  save_(result_.benchmarks.saved());
  return false;
}

}  // namespace nightjar::cli
