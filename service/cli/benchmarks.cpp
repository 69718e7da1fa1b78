#include "service/cli/benchmarks.hpp"

#include <algorithm>

#include "service/cli/failure.hpp"
#include "service/cli/metric_direction.hpp"

namespace nightjar::cli {

Benchmarks::Benchmarks(int commits, const bisect::SearchPolicy& policy,
                       const BisectOptions& options)
    : options_(options),
      commits_(commits),
      first_runs_(2 * policy.first_runs),
      shared_(commits, policy) {}

void Benchmarks::add(const SearchSubject& subject) {
  subjects_.push_back(subject);
  lost_.emplace_back(commits_);
  left_out_.emplace_back();
  shared_.add(seeks_less(options_for(subject, options_)));
}

std::optional<std::size_t> Benchmarks::find(const std::string& name) const {
  const auto found = std::find_if(subjects_.begin(), subjects_.end(),
                                  [&](const auto& one) { return one.benchmark == name; });
  if (found == subjects_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - subjects_.begin());
}

std::string Benchmarks::take(int session, int commit, const std::vector<MeasuredValue>& values) {
  std::vector<std::optional<double>> numbers(subjects_.size());
  std::string problem;
  bool any = false;
  for (const MeasuredValue& one : values) {
    if (!options_.only.empty() && !is_named_by(options_.only, one.name)) continue;
    // A name may hold what differs from commit to commit, such as a path.
    auto part = values.size() == 1 && subjects_.size() == 1 ? 0 : find(one.name);
    if (!part && !options_.followed.empty()) continue;
    if (!one.problem.empty()) {
      if (problem.empty()) problem = one.problem;
      continue;
    }
    if (!part && shared_.runs() < first_runs_) {
      part = subjects_.size();
      add({one.name, one.unit, one.direction == Direction::higher_is_better});
      numbers.emplace_back();
    }
    if (!part) continue;
    numbers[*part] = one.value;
    any = true;
  }
  if (!any)
    return !problem.empty()            ? problem
           : options_.followed.empty() ? "has no benchmark that --only fits"
                                       : "has no number of a benchmark that is followed";
  shared_.take(session, commit, numbers);
  runs_.push_back({session, commit, numbers});
  note_misses(commit, numbers);
  return "";
}

// Where a benchmark has no number again and again, the commit is untestable for it alone.
void Benchmarks::note_misses(int commit, const std::vector<std::optional<double>>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    lost_[i].note(commit, !values[i]);
    if (!lost_[i].condemn(commit)) continue;
    if (is_end(commit)) {
      left_out_[i] = std::string("has no number at the ") + (commit == 0 ? "good" : "bad") + " end";
      shared_.parts()[i].is_left_out = !shared_.parts()[i].answer;
    } else {
      shared_.note_untestable(i, commit);
    }
  }
}

void Benchmarks::note_untestable(int commit) {
  untestable_.push_back(commit);
  shared_.note_untestable(commit);
}

bool Benchmarks::has_runs_of(int commit) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [&](const SavedRun& run) { return run.commit == commit; });
}

std::optional<bisect::Measure> Benchmarks::next() {
  auto step = shared_.next();
  if (!step && std::none_of(shared_.parts().begin(), shared_.parts().end(),
                            [](const auto& part) { return part.answer.has_value(); }))
    throw Broken("no benchmark has numbers at both ends: " + subjects_.front().benchmark + " " +
                 left_out_.front());
  return step;
}

SavedSearch Benchmarks::saved() const {
  SavedSearch out{{}, runs_, untestable_};
  for (std::size_t i = 0; i < subjects_.size(); ++i) {
    const bisect::SharedPart& part = shared_.parts()[i];
    out.parts.push_back(
        {subjects_[i], part.answer ? part.answered_after : 0, part.runs_for_others});
  }
  return out;
}

void Benchmarks::restore(const SavedSearch& saved) {
  for (const SavedPart& part : saved.parts)
    if (!find(part.subject.benchmark)) add(part.subject);
  for (const SearchSubject& subject : options_.followed)
    if (!find(subject.benchmark)) add(subject);
  for (const int commit : saved.untestable) note_untestable(commit);
  for (const SavedRun& run : saved.runs) {
    auto values = run.values;
    values.resize(subjects_.size());
    shared_.take(run.session, run.commit, values);
    runs_.push_back(run);
    note_misses(run.commit, run.values);  // the others were not followed yet
  }
  for (std::size_t i = 0; i < saved.parts.size(); ++i)
    if (const auto part = find(saved.parts[i].subject.benchmark))
      shared_.restore(*part, saved.parts[i].answered_after, saved.parts[i].runs_for_others);
}

BisectOptions options_for(const SearchSubject& subject, BisectOptions options) {
  if (options.direction.empty() && subject.more_is_better) options.direction = "higher";
  return options;
}

}  // namespace nightjar::cli
