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
  double cv = .03, effect = .07;
};

struct NativeScore {
  double exact = 0, wrong = 0, makespan = 0, makespan_error = 0, builds = 0, abandoned = 0,
         runs = 0, attempts = 0;
};

// How one search plays a world.
enum class Player { with_costs, without_costs, bisection };

inline NativeScore play_native(const NativeRow& row, int jobs, Player player) {
  constexpr int commits = 100;
  constexpr double native = .5, uncompilable = .05, unimportable = .05;
  NativeScore out;
  std::vector<double> makespans;
  for (int job = 0; job < jobs; ++job) {
    std::mt19937_64 random(0x51ed27cd1b2d94f3ULL + static_cast<std::uint64_t>(job));
    BuildWorld builds = build_world(commits, native, row.wheels, uncompilable, random());
    builds.builders = row.builders;
    WorldOptions options;
    options.cv = row.cv;
    options.unbuildable = unimportable;
    options.planted = {{1 + static_cast<int>(random() % commits), row.effect}};
    for (int commit = 1; commit < commits; ++commit)
      if (builds.uncompilable.contains(builds.group[static_cast<std::size_t>(commit)]))
        options.broken.push_back(commit);
    World world(options, random());
    const std::pair<int, int> truth = world.cell(options.planted[0].commit);
    bisect::SearchPolicy policy;
    policy.max_runs = 3000;
    policy.build_cost = builds.build;
    const TimedResult result =
        player == Player::bisection
            ? timed_bisection(world, builds, commits, 10)
            : TimedSearch(world, builds, commits, policy, player == Player::with_costs).run();
    out.exact += result.job.blamed == std::vector{truth} && !result.job.inconclusive;
    for (const auto& cell : result.job.blamed) out.wrong += cell != truth;
    makespans.push_back(result.makespan);
    out.builds += result.builds;
    out.abandoned += result.abandoned;
    out.runs += result.job.runs;
    out.attempts += result.job.attempts;
  }
  for (const double makespan : makespans) out.makespan += makespan;
  for (double* sum : {&out.exact, &out.wrong, &out.makespan, &out.builds, &out.abandoned, &out.runs,
                      &out.attempts})
    *sum /= jobs;
  double squares = 0;
  for (const double makespan : makespans)
    squares += (makespan - out.makespan) * (makespan - out.makespan);
  out.makespan_error = std::sqrt(squares / jobs / jobs);
  return out;
}

}  // namespace nightjar::test
