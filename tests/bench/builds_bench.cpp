// Simulated days of 70 commits through the planner of overlays and the search: how many commits
// have a build, how often the culprit is named alone, and how many builds are made. Beside it the
// search that does not know what builds cost, and the overlays of the two nightlies alone. Fixed
// seeds, one core. builds_bench [--scale S] [--write FILE]: S times the number of days; FILE: the
// document whose figures are to be these. The exit status is 1 if a bar is not met.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/fewest_builds.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/simulated_day.hpp"

using namespace nightjar;
using namespace nightjar::test;

namespace {

constexpr double effect = .07;  // at CV 3 %

struct Score {
  double with_build = 0;   // share of the commits
  double of_possible = 0;  // share of those that compile, or whose group has a wheel, that have one
  double alone = 0, wrong = 0, builds = 0, makespan = 0;
  double few_builds = 0;  // share of the searches with at most three builds
  // What no search can better: the expected builds, and the chance that three are enough.
  double fewest_builds = 0, best_chance = 0;
};

int count(const std::vector<bool>& commits) {
  return static_cast<int>(std::count(commits.begin(), commits.end(), true));
}

// The search over the day. Without a builder, commits without a build are untestable from the
// start.
TimedResult search_day(SimulatedDay& day, const std::vector<bool>& testable, int culprit,
                       std::uint64_t seed, bool has_builder, bool knows_costs) {
  WorldOptions options;
  options.commits = day.commits();
  options.unbuildable = 0;
  options.planted = {{culprit, effect}};
  World world(options, seed);
  bisect::SearchLog known;
  known.commits = day.commits();
  known.prior = day.prior();
  for (int commit = 1; commit < day.commits(); ++commit)
    if (!has_builder && !testable[static_cast<std::size_t>(commit)])
      known.untestable.push_back(commit);
  bisect::SearchPolicy policy;
  policy.max_runs = 3000;
  policy.build_cost = knows_costs || has_builder ? day.builds().build : day.builds().preparation;
  return TimedSearch(world, day.builds(), day.commits(), policy, knows_costs, known).run();
}

Score play(const DayOptions& options, int days, bool builder, bool knows_costs) {
  Score out;
  double commits = 0, with_build = 0, possible = 0, possible_with_build = 0;
  for (int number = 0; number < days; ++number) {
    SimulatedDay day(options, 0x2545f4914f6cdd1dULL + static_cast<std::uint64_t>(number));
    const std::vector<bool> testable =
        day.testable_with(builder ? day.groups_that_compile() : day.builds().wheels);
    commits += day.commits() + 1;
    with_build += count(testable);
    for (int commit = 0; commit <= day.commits(); ++commit) {
      const bool can =
          builder
              ? day.compiles(commit)
              : day.builds().wheels.contains(day.builds().group[static_cast<std::size_t>(commit)]);
      possible += can;
      possible_with_build += can && testable[static_cast<std::size_t>(commit)];
    }
    const int culprit = day.draw_culprit();
    const TimedResult result =
        search_day(day, testable, culprit, day.draw_seed(), builder, knows_costs);
    out.alone += result.job.blamed == std::vector{std::pair{culprit - 1, culprit}};
    for (const auto& [good, bad] : result.job.blamed) out.wrong += culprit <= good || culprit > bad;
    out.builds += result.builds;
    out.makespan += result.makespan;
    out.few_builds += result.builds <= 3;
    if (builder && options.native < .3) {  // the bound takes long where there are many groups
      const FewestBuilds fewest(day.builds(), day.culprit_weights());
      out.fewest_builds += fewest.mean();
      out.best_chance += fewest.chance_with(3);
    }
  }
  out.with_build = with_build / commits;
  out.of_possible = possible_with_build / possible;
  for (double* sum : {&out.alone, &out.wrong, &out.builds, &out.makespan, &out.few_builds,
                      &out.fewest_builds, &out.best_chance})
    *sum /= days;
  return out;
}

bool met(const std::string& what, double value, double bar, bool at_least) {
  const bool good = at_least ? value >= bar : value <= bar;
  std::printf("  %-70s %.3f, bar %.3f: %s\n", what.c_str(), value, bar, good ? "met" : "NOT MET");
  return good;
}

// Prints one kind of day and adds its line to the table.
bool play_row(double native, double wheels, bool builder, int days, std::string& table) {
  DayOptions options;
  options.native = native;
  options.wheels = wheels;
  const Score ours = play(options, days, builder, true);
  const Score blind = play(options, days, builder, false);
  const std::string name =
      formatted("%.0f %% native, CI wheels for %.0f %% of the groups, %s", 100 * native,
                100 * wheels, builder ? "a builder" : "no builder");
  std::printf("%s (%d days): with a build, named alone, wrong, builds, makespan\n", name.c_str(),
              days);
  std::printf("  %-22s %.3f %.3f %.3f %5.2f %6.1f\n", "nightjar", ours.with_build, ours.alone,
              ours.wrong, ours.builds, ours.makespan);
  std::printf("  %-22s %.3f %.3f %.3f %5.2f %6.1f\n", "without costs", blind.with_build,
              blind.alone, blind.wrong, blind.builds, blind.makespan);
  bool good = true;
  if (builder) good = met("commits that compile and are testable", ours.of_possible, 1, true);
  if (!builder && wheels == .95)
    good = met("commits of groups with a wheel that are testable", ours.of_possible, 1, true);
  std::fflush(stdout);
  table +=
      formatted("| %.0f %% | %.0f %% | %s | %.3f | %.3f | %.3f | %.1f | %.0f | %.1f | %.0f |\n",
                100 * native, 100 * wheels, builder ? "yes" : "no", ours.with_build, ours.alone,
                ours.wrong, ours.builds, ours.makespan, blind.builds, blind.makespan);
  return good;
}

}  // namespace

int main(int count, char** arguments) {
  double scale = 1;
  std::string file;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--scale") scale = std::atof(arguments[i + 1]);
    if (name == "--write") file = arguments[i + 1];
  }
  const int days = std::max(5, static_cast<int>(100 * scale));
  std::string table = formatted(
      "Days of 70 commits, %d of each kind, on fixed seeds. `alone`: the culprit was named and no "
      "other commit with it.\nMakespans are in runs; a build takes 60:\n\n"
      "| native | CI wheels | builder | with a build | alone | wrong | builds | makespan | builds "
      "without costs | makespan without costs |\n|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|"
      "\n",
      days);
  bool good = true;
  for (const double native : {.3, .5, .7})
    for (const double wheels : {0.0, .6, .95})
      for (const bool builder : {false, true})
        good = play_row(native, wheels, builder, days, table) && good;
  DayOptions mostly_python;
  mostly_python.commits = 64;
  mostly_python.native = .2;
  const Score few = play(mostly_python, days, true, true);
  const Score blind = play(mostly_python, days, true, false);
  std::printf("64 commits, 80 %% Python only, a builder, no CI wheels (%d days)\n", days);
  std::printf("  builds %.2f, without costs %.2f; at most three in %.3f, without costs %.3f\n",
              few.builds, blind.builds, few.few_builds, blind.few_builds);
  std::printf("  the best search that there can be: %.2f builds, at most three in %.3f\n",
              few.fewest_builds, few.best_chance);
  good = met("source builds of a search", few.builds, 3, false) && good;
  table += formatted(
      "\n64 commits, 80 %% of them Python only, with a builder and no CI wheels: %.1f builds a "
      "search, at most three in %.0f %% of the\nsearches. Without costs they are %.1f, and at most "
      "three in %.0f %%. No search can always do with three. One without noise,\nwhich knows what "
      "compiles and takes the best of all orders, needs %.1f on average, and at most three in "
      "%.0f %%.\n",
      few.builds, 100 * few.few_builds, blind.builds, 100 * blind.few_builds, few.fewest_builds,
      100 * few.best_chance);
  if (!file.empty()) write_figures(file, "builds", table);
  return good ? 0 : 1;
}
