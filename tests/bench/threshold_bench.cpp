// Outcomes, by how large a step is relative to the threshold: named, below the threshold, several
// small, nobody, wrong blames, build attempts and runs. The noise of a run is 3/7 of the threshold
// (in logs); drift, layout and outliers are the usual world's, whatever the threshold, or scaled
// with it. Fixed seeds, one core. threshold_bench [--scale S] [--only TEXT] [--write FILE]: as
// verdicts_bench.
#include <cstdlib>
#include <set>

#include "tests/support/figures.hpp"
#include "tests/support/search_world.hpp"

using namespace nightjar;
using namespace nightjar::test;

namespace {

constexpr double usual_threshold = .07, usual_noise = .03;

struct Case {
  std::string name;
  double threshold = usual_threshold;
  std::vector<double> steps;   // times the threshold, in logs
  double noise = usual_noise;  // CV, at the usual threshold
  bool scaled = false;         // the machine's facts with the threshold
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const double threshold : {.02, .07, .20, .50})
    for (const double times : {0., .25, .5, .75, 1., 1.5, 2., 3.})
      out.push_back(
          {formatted("threshold %g %%, a step of %g", 100 * threshold, times), threshold, {times}});
  for (const double threshold : {.02, .07, .20, .50})
    out.push_back(
        {formatted("threshold %g %%, two of 0.57", 100 * threshold), threshold, {.57, .57}});
  for (const double effect : {.03, .036, .04, .05, .06})
    out.push_back({formatted("threshold 7 %%, %+.3g %%, CV 1 %%", 100 * effect),
                   usual_threshold,
                   {std::log1p(effect) / std::log1p(usual_threshold)},
                   .01});
  out.push_back({"threshold 7 %, two of +4 %, CV 1 %", usual_threshold, {.58, .58}, .01});
  for (const double threshold : {.20, .50})
    out.push_back({formatted("threshold %g %%, +18 %%, CV 1 %%", 100 * threshold),
                   threshold,
                   {std::log1p(.18) / std::log1p(threshold)},
                   .01 * std::log1p(.07) / std::log1p(threshold)});
  for (const double threshold : {.02, .20, .50})
    for (const double times : {0., .5, 1., 2.})
      out.push_back({formatted("all scaled to %g %%, a step of %g", 100 * threshold, times),
                     threshold,
                     {times},
                     usual_noise,
                     true});
  return out;
}

World world_of(const Case& one, std::mt19937_64& random) {
  const double unit = std::log1p(one.threshold) / std::log1p(usual_threshold);
  WorldOptions options;
  options.cv = one.noise * unit;
  if (one.scaled) {
    options.session_sd *= unit;
    options.layout_sd *= unit;
    options.outlier_scale = unit;
  }
  std::set<int> places;
  while (places.size() < one.steps.size())
    places.insert(1 + static_cast<int>(random() % static_cast<std::uint64_t>(options.commits)));
  auto times = one.steps.begin();
  for (const int place : places)
    options.planted.push_back({place, std::expm1(*times++ * std::log1p(one.threshold))});
  return World(options, random());
}

std::string play(const Case& one, int jobs) {
  double named = 0, below = 0, several = 0, nobody = 0, open = 0, wrong = 0, attempts = 0, runs = 0;
  for (int job = 0; job < jobs; ++job) {
    std::mt19937_64 random(0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(job));
    World world = world_of(one, random);
    std::set<std::pair<int, int>> truth;
    for (const Planted& planted : world.planted())
      if (planted.effect > 0) truth.insert(world.cell(planted.commit));
    bisect::SearchPolicy policy;
    policy.threshold = one.threshold;
    const JobResult result = search(world, 100, policy);
    using enum bisect::SearchOutcome;
    named += result.outcome == culprit;
    below += result.outcome == below_threshold;
    several += result.outcome == several_small;
    nobody += result.outcome == not_reproduced;
    open += result.outcome == inconclusive;
    for (const auto& cell : result.blamed) wrong += !truth.contains(cell);
    attempts += result.attempts;
    runs += result.runs;
  }
  return "| " + one.name +
         formatted(" | %.2f | %.2f | %.2f | %.2f | %.2f | %.3f | %.1f | %.0f |\n", named / jobs,
                   below / jobs, several / jobs, nobody / jobs, open / jobs, wrong / jobs,
                   attempts / jobs, runs / jobs);
}

}  // namespace

int main(int count, char** arguments) {
  double scale = 1;
  std::string only, file;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--scale") scale = std::atof(arguments[i + 1]);
    if (name == "--only") only = arguments[i + 1];
    if (name == "--write") file = arguments[i + 1];
  }
  const int jobs = std::max(10, static_cast<int>(100 * scale));
  std::string table = formatted(
      "Steps beside the threshold (times the threshold, in logs), %d jobs a row:\n\n", jobs);
  table +=
      "| world | named | below threshold | several small | nobody | open | wrong blames a job | "
      "attempts | runs |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  std::fputs(table.c_str(), stdout);
  for (const Case& one : cases()) {
    if (one.name.find(only) == std::string::npos) continue;
    const std::string row = play(one, jobs);
    std::fputs(row.c_str(), stdout);
    std::fflush(stdout);
    table += row;
  }
  if (!file.empty()) write_figures(file, "threshold", table);
  return 0;
}
