// The search with costs beside the same search without, and beside plain bisection: worlds in which
// a part of the commits is native. Part of the benchmark of verdicts.
#pragma once

#include <cstdio>
#include <string>

#include "tests/support/build_clock.hpp"
#include "tests/support/figures.hpp"

namespace nightjar::test {

struct NativeRow {
  double wheels = 0;  // share of the native groups that CI has built
  int builders = 1;
};

const std::vector<NativeRow> native_rows = {{0, 1}, {.3, 1}, {.6, 1}, {.95, 1},
                                            {0, 4}, {.3, 4}, {.6, 4}, {.95, 4}};

struct NativeScore {
  double exact = 0, wrong = 0, makespan = 0, makespan_error = 0, builds = 0, runs = 0;
};

// How one search plays a world.
enum class Player { with_costs, with_costs_abandoning, without_costs, bisection };

// 100 commits, half of them native. The source of a twentieth of the groups does not compile, and a
// twentieth of the commits does not import. One culprit of +7 %, CV 3 %.
inline TimedResult play_native_job(const NativeRow& row, int job, Player player,
                                   std::pair<int, int>& truth) {
  constexpr int commits = 100;
  std::mt19937_64 random(0x51ed27cd1b2d94f3ULL + static_cast<std::uint64_t>(job));
  BuildWorld builds = build_world(commits, .5, row.wheels, .05, random());
  builds.builders = row.builders;
  builds.abandons = player == Player::with_costs_abandoning;
  WorldOptions options;
  options.unbuildable = .05;
  options.planted = {{1 + static_cast<int>(random() % commits), .07}};
  for (int commit = 1; commit < commits; ++commit)
    if (builds.broken_groups.contains(builds.group[static_cast<std::size_t>(commit)]))
      options.broken.push_back(commit);
  World world(options, random());
  truth = world.cell(options.planted[0].commit);
  if (player == Player::bisection) return timed_bisection(world, builds, commits, 10);
  bisect::SearchPolicy policy;
  policy.max_runs = 3000;
  policy.build_cost = builds.build;
  return TimedSearch(world, builds, commits, policy, player != Player::without_costs).run();
}

inline NativeScore play_native(const NativeRow& row, int jobs, Player player) {
  NativeScore out;
  double squares = 0;
  for (int job = 0; job < jobs; ++job) {
    std::pair<int, int> truth;
    const TimedResult result = play_native_job(row, job, player, truth);
    out.exact += result.job.blamed == std::vector{truth} && !result.job.inconclusive;
    for (const auto& cell : result.job.blamed) out.wrong += cell != truth;
    out.makespan += result.makespan;
    squares += result.makespan * result.makespan;
    out.builds += result.builds;
    out.runs += result.job.runs;
  }
  for (double* sum : {&out.exact, &out.wrong, &out.makespan, &squares, &out.builds, &out.runs})
    *sum /= jobs;
  out.makespan_error = std::sqrt((squares - out.makespan * out.makespan) / jobs);
  return out;
}

inline std::string native_cell(const NativeScore& score) {
  return formatted(" %.3f / %.3f / %.0f ± %.0f / %.1f / %.0f |", score.exact, score.wrong,
                   score.makespan, score.makespan_error, score.builds, score.runs);
}

inline void print_native(const char* who, const NativeScore& score) {
  std::printf("  %-22s %6.3f %7.4f %9.1f +- %4.1f %7.2f %7.1f\n", who, score.exact, score.wrong,
              score.makespan, score.makespan_error, score.builds, score.runs);
}

// Prints whether a ratio of makespans is at most `bar`.
inline void print_bar(const std::string& what, double ratio, double bar) {
  std::printf("  %-62s %.2f, bar %.2f: %s\n", what.c_str(), ratio, bar,
              ratio <= bar ? "met" : "NOT MET");
}

// Plays all worlds whose name holds `only` and prints them. Returns the document's table; empty if
// there is no such world.
inline std::string play_native_rows(double scale, const std::string& only) {
  const int jobs = std::max(10, static_cast<int>(200 * scale));
  std::string table =
      "Searches over 100 commits, half of them native; P(exact) / wrong blames a job / makespan in "
      "runs, with its standard\nerror / builds made / runs. A build takes 60 runs. " +
      std::to_string(jobs) +
      " jobs a world, on fixed seeds:\n\n"
      "| CI wheels, builders | with costs | with costs, abandoning | without costs | `git bisect "
      "run` ×10 |\n|---|---|---|---|---|\n";
  bool any = false;
  double alone = 0;  // makespan with one builder and no wheels
  for (const NativeRow& row : native_rows) {
    const std::string name = formatted("%.0f %% of the groups, %d", 100 * row.wheels, row.builders);
    const std::string title = "half native, CI wheels for " + name + " builder(s)";
    if (title.find(only) == std::string::npos) continue;
    any = true;
    std::printf("%s (%d jobs): exact, wrong, makespan, builds, runs\n", title.c_str(), jobs);
    const NativeScore costs = play_native(row, jobs, Player::with_costs);
    const NativeScore abandoning = play_native(row, jobs, Player::with_costs_abandoning);
    const NativeScore blind = play_native(row, jobs, Player::without_costs);
    const NativeScore bisection = play_native(row, jobs, Player::bisection);
    print_native("nightjar", costs);
    print_native("abandoning builds", abandoning);
    print_native("without costs", blind);
    print_native("git bisect run x10", bisection);
    const bool main_world = row.wheels == .6 && row.builders == 1;
    print_bar("makespan beside the search without costs", costs.makespan / blind.makespan,
              main_world ? .7 : 1.02);
    if (row.wheels == 0 && row.builders == 1) alone = costs.makespan;
    if (row.wheels == 0 && row.builders == 4 && alone > 0)
      print_bar("makespan beside one builder", costs.makespan / alone, .7);
    std::fflush(stdout);
    table += "| " + name + " |" + native_cell(costs) + native_cell(abandoning) +
             native_cell(blind) + native_cell(bisection) + "\n";
  }
  return any ? table : std::string();
}

}  // namespace nightjar::test
