// A day whose wheels have effects of their own: two nightlies, wheels of CI for a part of the
// native groups, and those that a builder makes. What a run shows depends on its commit and on the
// wheel that the commit's files are laid over. Used by the benchmark and the tests of wheels.
#pragma once

#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "tests/support/build_clock.hpp"

namespace nightjar::test {

enum class WheelOrigin { nightly, ci, source };

// What is planted. `wheel`: the bad nightly's wheel is slower at every commit, by no commit's
// doing.
enum class WheelCulprit { python, native, wheel, nothing };

struct WheelDayOptions {
  int commits = 100;
  double native = .5;     // share of the commits
  double ci_wheels = .6;  // share of the groups with a wheel of CI, the ends' included
  bool builder = false;
  double origin_sd = .05;  // of log values, of each origin but nightlies, which are 0
  double cv = .03;
  WheelCulprit culprit = WheelCulprit::python;
};

struct DayWheel {
  WheelOrigin origin = WheelOrigin::nightly;
  int group = 0;   // serves the commits of this native group
  int commit = 0;  // that it was compiled from

  bool operator==(const DayWheel&) const = default;
};

class WheelDay {
 public:
  WheelDay(const WheelDayOptions& options, std::uint64_t seed)
      : options_(options),
        seed_(seed),
        builds_(build_world(options.commits, options.native, options.ci_wheels, .05, seed)),
        world_(draw_world()) {
    builds_.builders = options.builder ? 1 : 0;
  }

  const BuildWorld& builds() const { return builds_; }
  int commits() const { return options_.commits; }
  // The wheels that there are at first: the good nightly's, the bad one's, then CI's.
  const std::vector<DayWheel>& wheels() const { return wheels_; }
  DayWheel source_wheel(int group) const {
    return {WheelOrigin::source, group, commits_of(group).front()};
  }
  bool serves(const DayWheel& wheel, int commit) const { return wheel.group == group(commit); }

  // The wheel that is taken where nobody knows of effects: the ends' own, else the nearest one.
  DayWheel usual_wheel(int commit) const {
    if (commit == 0) return wheels_[0];
    if (commit == commits()) return wheels_[1];
    const DayWheel* best = nullptr;
    for (const DayWheel& wheel : wheels_) {
      if (!serves(wheel, commit)) continue;
      const auto distance = [&](const DayWheel& of) { return std::abs(of.commit - commit); };
      if (!best || distance(wheel) < distance(*best)) best = &wheel;
    }
    return best ? *best : source_wheel(group(commit));
  }

  void new_session() { world_.new_session(); }
  // The log value of one run.
  double measure(int commit, const DayWheel& wheel) {
    if (!serves(wheel, commit))
      throw std::logic_error("a wheel cannot serve commit " + std::to_string(commit));
    return world_.measure(commit) + effect(wheel) + .002 * normal({2, key(wheel), commit});
  }
  double measure(int commit) { return measure(commit, usual_wheel(commit)); }

  // Whether a commit can be measured at all: it imports, and has a wheel or can get one.
  bool testable(int commit) const { return world_.buildable(commit); }
  bool buildable(int commit) const { return testable(commit); }
  // The planted commit; -1: none did it.
  int culprit() const { return culprit_; }
  // The cell (first, last] of testable commits around the culprit.
  std::pair<int, int> cell() const { return world_.cell(culprit_); }

  // Whether the culprit can be told from the wheels: the testable commits on both sides of it have
  // a wheel in common, wheels of one origin, or wheels whose difference a third commit shows. A
  // nightly's wheel is one of a kind, since it alone may be a slow one. So two nightlies count as
  // two origins.
  bool identifiable() const {
    if (culprit_ < 0) return false;
    const auto [from, to] = cell();
    std::set<int> reached = kinds(from);
    for (std::size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (int commit = 0; commit <= commits(); ++commit) {
        const std::set<int> there = testable(commit) ? kinds(commit) : std::set<int>();
        if (share(reached, there)) reached.insert(there.begin(), there.end());
      }
    }
    return share(reached, kinds(to));
  }

 private:
  int group(int commit) const { return builds_.group[static_cast<std::size_t>(commit)]; }
  std::vector<int> commits_of(int wanted) const {
    std::vector<int> out;
    for (int commit = 0; commit <= commits(); ++commit)
      if (group(commit) == wanted) out.push_back(commit);
    return out;
  }

  // Draws the wheels, what is planted, and what can be measured.
  World draw_world() {
    std::mt19937_64 random(seed_ ^ 0x3c6ef372fe94f82bULL);
    const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const int last = builds_.group.back();
    wheels_ = {{WheelOrigin::nightly, 0, 0}, {WheelOrigin::nightly, last, commits()}};
    for (int each = 0; each <= last; ++each) {
      const std::vector<int> members = commits_of(each);
      const int commit = members[below(members.size())];
      const bool is_end = each == 0 || each == last;
      const bool drawn = uniform() < options_.ci_wheels;
      if (is_end ? drawn : builds_.wheels.contains(each))
        wheels_.push_back({WheelOrigin::ci, each, commit});
    }
    WorldOptions options;
    options.commits = commits();
    options.cv = options_.cv;
    options.unbuildable = .05;
    options.layout_sd = 0;  // belongs to a commit and its wheel
    slow_wheel_ = std::log1p(.10 + .15 * uniform());
    const double effect = .07 + .13 * uniform();
    culprit_ = draw_culprit(below);
    if (culprit_ >= 0) options.planted = {{culprit_, effect}};
    for (int commit = 1; commit < commits(); ++commit)
      if (options_.builder ? builds_.broken_groups.contains(group(commit))
                           : !builds_.wheels.contains(group(commit)))
        options.broken.push_back(commit);
    return World(options, random());
  }
  template <class Below>
  int draw_culprit(const Below& below) const {
    if (options_.culprit == WheelCulprit::wheel || options_.culprit == WheelCulprit::nothing)
      return -1;
    std::vector<int> suspects;
    for (int commit = 1; commit <= commits(); ++commit)
      if ((group(commit) != group(commit - 1)) == (options_.culprit == WheelCulprit::native))
        suspects.push_back(commit);
    return suspects.empty() ? -1 : suspects[below(suspects.size())];
  }

  // A number for each wheel that there could be.
  int key(const DayWheel& wheel) const {
    return 4 * wheel.group + (wheel.origin == WheelOrigin::nightly ? wheel.commit > 0
                              : wheel.origin == WheelOrigin::ci    ? 2
                                                                   : 3);
  }
  double effect(const DayWheel& wheel) const {
    double out = .003 * normal({1, key(wheel), 0});
    if (wheel.origin != WheelOrigin::nightly)
      out += options_.origin_sd * normal({0, static_cast<int>(wheel.origin), 0});
    const bool is_slow = options_.culprit == WheelCulprit::wheel && key(wheel) == key(wheels_[1]);
    return out + (is_slow ? slow_wheel_ : 0);
  }
  // A standard normal of its own for each key, whatever was drawn before.
  double normal(const std::array<int, 3>& of) const {
    std::seed_seq seeds{static_cast<unsigned>(seed_), static_cast<unsigned>(seed_ >> 32),
                        static_cast<unsigned>(of[0]), static_cast<unsigned>(of[1]),
                        static_cast<unsigned>(of[2])};
    std::array<unsigned, 2> words{};
    seeds.generate(words.begin(), words.end());
    const double u = (words[0] + 1.0) * 0x1p-32, v = words[1] * 0x1p-32;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
  }

  // What the wheels of a commit have in common with others: the two nightlies, then the origins.
  std::set<int> kinds(int commit) const {
    std::set<int> out;
    for (std::size_t i = 0; i < wheels_.size(); ++i)
      if (serves(wheels_[i], commit)) out.insert(i < 2 ? static_cast<int>(i) : 2);
    if (options_.builder && !builds_.broken_groups.contains(group(commit))) out.insert(3);
    return out;
  }
  static bool share(const std::set<int>& a, const std::set<int>& b) {
    return std::any_of(a.begin(), a.end(), [&](int each) { return b.contains(each); });
  }

  WheelDayOptions options_;
  std::uint64_t seed_;
  BuildWorld builds_;
  std::vector<DayWheel> wheels_;
  double slow_wheel_ = 0;
  int culprit_ = -1;
  World world_;
};

}  // namespace nightjar::test
