// A day of PyTorch between two nightlies, as a commit graph: Python, native, and neither. What
// builds there are is asked of the real planner. Used by the benchmark of builds.
#pragma once

#include <random>
#include <set>
#include <string>
#include <vector>

#include "service/builds/overlay.hpp"
#include "tests/support/build_clock.hpp"
#include "tests/support/literal_graph.hpp"

namespace nightjar::test {

struct DayOptions {
  int commits = 70;
  double native = .5;
  double without_effect = .1;  // documentation and tests
  double broken = .05;         // of the native groups
  double wheels = 0;           // share of the groups between the ends that CI has built
};

class SimulatedDay {
 public:
  SimulatedDay(const DayOptions& options, std::uint64_t seed) : options_(options), random_(seed) {
    git::LiteralGraph::Changes first{{"torch/__init__.py", ""}, {"torch/nn/__init__.py", ""}};
    for (int file = 0; file < files; ++file) {
      first[python_file(file)] = "0";
      first[native_file(file)] = "0";
    }
    commits_.push_back(graph_.commit("main", "Begin", first));
    bool native = uniform() < options.native;
    for (int number = 1; number <= options.commits; ++number) {
      native = uniform() < chance_of_native(native);
      commits_.push_back(
          graph_.commit("main", "Change", native ? native_change(number) : other_change(number)));
    }
    find_groups();
    draw_groups();
  }

  int commits() const { return options_.commits; }
  // Group of each commit, which wheels CI has, and which groups do not compile.
  const BuildWorld& builds() const { return builds_; }
  bool compiles(int commit) const { return !builds_.broken_groups.contains(group(commit)); }
  // As the service weighs the commits 1..N.
  std::vector<double> prior() const {
    return service::risk_prior(graph_, *graph_.range(commits_.front(), commits_.back()), {});
  }
  // How likely each of the commits 1..N is the culprit: equally, if it compiles and changes
  // something that is installed; else not at all.
  std::vector<double> culprit_weights() const {
    std::vector<double> weights = prior();
    for (int commit = 1; commit <= commits(); ++commit) {
      double& weight = weights[static_cast<std::size_t>(commit) - 1];
      if (!compiles(commit) || weight < 1) weight = 0;
    }
    return weights;
  }
  int draw_culprit() {
    const std::vector<double> weights = culprit_weights();
    for (;;) {
      const int commit = 1 + static_cast<int>(random_() % static_cast<std::uint64_t>(commits()));
      if (weights[static_cast<std::size_t>(commit) - 1] > 0) return commit;
    }
  }
  std::uint64_t draw_seed() { return random_(); }

  // The commits that the planner can lay over a wheel of one of these groups.
  std::vector<bool> testable_with(const std::set<int>& groups) const {
    std::vector<Build> bases;
    for (const int made : groups) bases.push_back(wheel_of(first_of(made)));
    std::vector<bool> out;
    for (const CommitSha& commit : commits_) {
      const auto plan = service::plan_overlay(graph_, bases, commit, {});
      out.push_back(std::holds_alternative<service::OverlayPlan>(plan));
    }
    return out;
  }
  std::set<int> groups_that_compile() const {
    std::set<int> out;
    for (const int each : builds_.group)
      if (!builds_.broken_groups.contains(each)) out.insert(each);
    return out;
  }

 private:
  static constexpr int files = 12;
  static std::string python_file(int file) {
    return "torch/nn/part" + std::to_string(file) + ".py";
  }
  static std::string native_file(int file) {
    return "aten/src/ATen/native/Part" + std::to_string(file) + ".cpp";
  }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  // Native commits come in runs: after one, the next is native with this larger chance. The share
  // of native commits stays as wanted.
  double chance_of_native(bool after_native) const {
    constexpr double stays = .3;
    return options_.native * (1 - stays) + (after_native ? stays : 0);
  }
  git::LiteralGraph::Changes native_change(int number) {
    constexpr double reverts = .05;
    const int file = static_cast<int>(random_() % files);
    if (!last_change_.empty() && uniform() < reverts) {
      auto undone = last_change_;
      last_change_.clear();
      return undone;
    }
    const auto before = graph_.file(commits_.back(), native_file(file));
    last_change_ = {{native_file(file), before}};
    return {{native_file(file), std::to_string(number)}};
  }
  git::LiteralGraph::Changes other_change(int number) {
    const std::string content = std::to_string(number);
    if (uniform() < options_.without_effect / (1 - options_.native))
      return {{"test/test_part.py", content}};
    return {{python_file(static_cast<int>(random_() % files)), content}};
  }

  int group(int commit) const { return builds_.group[static_cast<std::size_t>(commit)]; }
  int first_of(int wanted) const {
    int commit = 0;
    while (group(commit) != wanted) ++commit;
    return commit;
  }
  Build wheel_of(int commit) const {
    Build build;
    build.id = BuildId{commit + 1};
    build.kind = BuildKind::ci;
    build.version = "2.15.0.dev20260820+" + std::to_string(commit);
    build.variant = "cpu";
    build.commit = commits_[static_cast<std::size_t>(commit)];
    build.sha256 = Sha256::parse(std::string(64, 'a'));
    build.state = BuildState::proved;
    return build;
  }

  // A commit belongs to the first group whose wheel the planner can lay it over.
  void find_groups() {
    std::vector<Build> first_wheels;
    for (int commit = 0; commit <= options_.commits; ++commit) {
      const CommitSha& sha = commits_[static_cast<std::size_t>(commit)];
      int found = 0;
      while (found < static_cast<int>(first_wheels.size()) && !fits(first_wheels, found, sha))
        ++found;
      if (found == static_cast<int>(first_wheels.size())) first_wheels.push_back(wheel_of(commit));
      builds_.group.push_back(found);
    }
  }
  bool fits(const std::vector<Build>& wheels, int index, const CommitSha& commit) const {
    const std::span<const Build> one(&wheels[static_cast<std::size_t>(index)], 1);
    return std::holds_alternative<service::OverlayPlan>(
        service::plan_overlay(graph_, one, commit, {}));
  }

  void draw_groups() {
    const int last = *std::max_element(builds_.group.begin(), builds_.group.end());
    for (int each = 0; each <= last; ++each) {
      const bool broken = uniform() < options_.broken, wheel = uniform() < options_.wheels;
      const bool is_end = each == builds_.group.front() || each == builds_.group.back();
      if (is_end || (wheel && !broken)) builds_.wheels.insert(each);
      if (!is_end && broken) builds_.broken_groups.insert(each);
    }
  }

  DayOptions options_;
  std::mt19937_64 random_;
  git::LiteralGraph graph_;
  std::vector<CommitSha> commits_;
  git::LiteralGraph::Changes last_change_;  // undoes the last native change
  BuildWorld builds_;
};

}  // namespace nightjar::test
