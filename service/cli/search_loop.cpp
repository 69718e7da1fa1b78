#include "service/cli/search_loop.hpp"

#include <algorithm>
#include <set>
#include <unistd.h>

#include "runner/process/failure.hpp"
#include "service/cli/ends.hpp"
#include "service/cli/failure.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {
namespace {

bisect::SearchPolicy search_policy_of(const BisectOptions& options) {
  bisect::SearchPolicy policy;
  policy.threshold = options.threshold;
  policy.of_failures = seeks_failures(options);
  policy.of_inverses = seeks_less(options);
  policy.max_runs = options.max_runs;
  policy.builds_at_once = options.build.empty() ? 1 : options.jobs;
  policy.build_ends_session = !options.build.empty();
  if (options.build.empty()) policy.build_cost = 1;
  return policy;
}

}  // namespace

SearchLoop::SearchLoop(const BisectOptions& options, Bench& bench, std::vector<std::string> commits,
                       bisect::SearchLog log, Save save, Draw draw, std::stop_token stop)
    : options_(options),
      bench_(bench),
      save_(std::move(save)),
      draw_(std::move(draw)),
      stop_(std::move(stop)),
      policy_(search_policy_of(options)),
      chart_(::isatty(STDERR_FILENO) != 0) {
  result_.commits = std::move(commits);
  result_.log = std::move(log);
  result_.log.commits = static_cast<int>(result_.commits.size()) - 1;
  if (!result_.log.runs.empty()) session_ = result_.log.runs.back().session + 1;
}

SearchResult SearchLoop::run() {
  const int built_before = bench_.builds();
  while (true) {
    bisect::NextStep next = bisect::next_step(as_costs(result_.log, seeks_less(options_)), policy_);
    result_.belief = std::move(next.belief);
    result_.builds = bench_.builds() - built_before;
    if (auto* answer = std::get_if<bisect::Answer>(&next.step)) {
      result_.answer = std::move(*answer);
      return std::move(result_);
    }
    draw_(result_);
    chart_.show(result_.belief, result_.log.runs.size(), result_.commits);
    take(std::get<bisect::Measure>(next.step));
  }
}

const std::string& SearchLoop::commit_at(int position) const {
  return result_.commits[static_cast<std::size_t>(position)];
}

void SearchLoop::take(const bisect::Measure& step) {
  if (step.new_session && !result_.log.runs.empty()) ++session_;
  if (options_.jobs > 1) build(step);
  for (const int commit : step.order)
    if (!take_run(commit)) return;
}

// Measures until there is a number. False if the commit turned out to be untestable.
bool SearchLoop::take_run(int commit) {
  const std::string& sha = commit_at(commit);
  while (true) {
    if (stop_.stop_requested()) throw runner::Stopped();
    const Measurement measured = bench_.measure(sha);
    if (!measured.untestable.empty()) return mark_untestable(commit, measured.untestable);
    lost_.note(commit, !measured.value);
    if (measured.value) {
      result_.log.runs.push_back({session_, commit, *measured.value});
      note_built(commit);
      save_(result_.log);
      return true;
    }
    if (lost_.condemn(commit)) return give_up(commit, measured);
    chart_.leave();
    say(stderr, "a run of %s is lost, it is measured again: its measure %s\n",
        short_name(sha).c_str(), measured.lost.c_str());
  }
}

bool SearchLoop::give_up(int commit, const Measurement& last) {
  const auto& runs = result_.log.runs;
  const bool had_numbers =
      std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return run.commit == commit; });
  if (last.is_broken && !had_numbers)
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
      note_built(commit);
    else
      mark_untestable(commit, problem);
  }
}

bool SearchLoop::mark_untestable(int commit, const std::string& why) {
  const std::string& sha = commit_at(commit);
  if (commit == 0 || commit == result_.log.commits)
    throw Broken(std::string("the ") + (commit == 0 ? "good" : "bad") + " end " + short_name(sha) +
                 " cannot be tested: " + why);
  chart_.leave();
  say(stderr, "%s is untestable: %s\n", short_name(sha).c_str(), why.c_str());
  result_.log.untestable.push_back(commit);
  save_(result_.log);
  return false;
}

void SearchLoop::note_built(int commit) {
  auto& built = result_.log.built;
  const bool inner = commit != 0 && commit != result_.log.commits;
  if (inner && std::find(built.begin(), built.end(), commit) == built.end())
    built.push_back(commit);
}

}  // namespace nightjar::cli
