// The search beside its rivals, in the world of tests/support/search_world.hpp: exact answers,
// build attempts, runs and wrong blames, with the bar that each row has to meet. Then worlds with
// native groups, whose builds take time (native_worlds.hpp). Fixed seeds, one core. verdicts_bench
// [--scale S] [--only TEXT] [--rivals no] [--write FILE]: S times the number of jobs, rows that
// hold TEXT; FILE: the document whose figures are to be these. --ratio: a step of the search beside
// a fixed piece of arithmetic, and nothing else.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>

#include "tests/bench/native_worlds.hpp"
#include "tests/bench/ratio.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/rivals.hpp"

using namespace nightjar;
using namespace nightjar::test;

namespace {

struct Row {
  std::string name;
  double cv = .03;
  std::vector<double> effects;
  int jobs = 300;
  double exact = 0, attempts = 0, runs = 0, wrong = 0;  // the bars
  int commits = 100;
  double session_sd = .01, layout_sd = .003, outliers = .05, largest_outlier = .30;
  double known_noise = 0;  // the series' history tells the sd; 0: unknown
  double unbuildable = .1;
  enum class Before { nothing, same_culprit, other_culprit } before = Before::nothing;
};

const std::vector<Row> rows = {
    {"+7 %, CV 3 %", .03, {.07}, 600, .99, 7.4, 68, .005},
    {"nobody, CV 1 %", .01, {}, 1000, 1, .15, 12, 0},
    {"nobody, CV 3 %", .03, {}, 1000, 1, .15, 35, 0},
    {"nobody, CV 5 %", .05, {}, 1000, 1, .15, 85, 0},
    {"nobody, CV 10 %", .10, {}, 1000, 1, .15, 290, .003},
    {"+7 %, CV 1 %", .01, {.07}, 300, .99, 7.4, 32, .005},
    {"+7 %, CV 5 %", .05, {.07}, 300, .99, 7.5, 135, .005},
    {"+7 %, CV 10 %", .10, {.07}, 150, .98, 7.7, 430, .01},
    {.name = "+7 %, CV 10 %, noise known",
     .cv = .10,
     .effects = {.07},
     .jobs = 150,
     .exact = .98,
     .attempts = 7.7,
     .runs = 430,
     .wrong = .01,
     .known_noise = .10},
    {"+50 %, CV 3 %", .03, {.50}, 300, .99, 7.4, 32, 0},
    {"+50 %, CV 10 %", .10, {.50}, 300, .99, 7.4, 90, 0},
    {"+10 and +10 %, CV 3 %", .03, {.10, .10}, 300, .99, 12, 75, .01},
    {"+7 and +7 %, CV 3 %", .03, {.07, .07}, 300, .985, 12, 110, .01},
    {"+7 and +20 %, CV 3 %", .03, {.07, .20}, 300, .985, 12, 95, .01},
    {.name = "+10 and +10 %, CV 3 %, all buildable",
     .effects = {.10, .10},
     .exact = .99,
     .attempts = 12,
     .runs = 75,
     .wrong = .01,
     .unbuildable = 0},
    {.name = "+7 and +7 %, CV 3 %, all buildable",
     .effects = {.07, .07},
     .exact = .985,
     .attempts = 12,
     .runs = 110,
     .wrong = .01,
     .unbuildable = 0},
    {.name = "+7 and +20 %, CV 3 %, all buildable",
     .effects = {.07, .20},
     .exact = .985,
     .attempts = 12,
     .runs = 95,
     .wrong = .01,
     .unbuildable = 0},
    {"+25 and -12 %, CV 3 %", .03, {.25, -.12}, 300, .985, 12, 95, .01},
    {"drift 3 %: +7 %, CV 3 %", .03, {.07}, 300, .98, 7.6, 80, .02, 100, .03},
    {.name = "outliers 15 % to +50 %: +7 %, CV 3 %",
     .effects = {.07},
     .exact = .985,
     .attempts = 7.6,
     .runs = 85,
     .wrong = .01,
     .outliers = .15,
     .largest_outlier = .5},
    {"layout 1 %: +7 %, CV 3 %", .03, {.07}, 300, .92, 7.6, 170, .06, 100, .01, .01},
    {"N = 256: +7 %, CV 3 %", .03, {.07}, 300, .99, 8.7, 85, .005, 256},
    {.name = "a second workload, same culprit: +7 %, CV 3 %",
     .effects = {.07},
     .exact = .99,
     .attempts = 7.4,
     .runs = 68,
     .wrong = .005,
     .before = Row::Before::same_culprit},
    {.name = "a second workload, another culprit: +7 %, CV 3 %",
     .effects = {.07},
     .exact = .99,
     .attempts = 7.4,
     .runs = 68,
     .wrong = .005,
     .before = Row::Before::other_culprit},
};

struct Score {
  double exact = 0, attempts = 0, runs = 0, wrong = 0, steps = 0, milliseconds = 0;
};

Score play(const Row& row, int jobs, const std::function<JobResult(World&)>& method) {
  Score out;
  const std::clock_t start = std::clock();
  for (int job = 0; job < jobs; ++job) {
    std::mt19937_64 random(0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(job));
    WorldOptions options;
    options.commits = row.commits;
    options.cv = row.cv;
    options.unbuildable = row.unbuildable;
    options.session_sd = row.session_sd;
    options.layout_sd = row.layout_sd;
    options.outliers = row.outliers;
    options.largest_outlier = row.largest_outlier;
    std::set<int> places;
    while (places.size() < row.effects.size()) {
      places.insert(1 + static_cast<int>(random() % static_cast<std::uint64_t>(row.commits)));
    }
    auto effect = row.effects.begin();
    for (int place : places) options.planted.push_back({place, *effect++});
    World world(options, random());
    std::set<std::pair<int, int>> truth;
    for (const Planted& planted : options.planted) {
      if (planted.effect > 0) truth.insert(world.cell(planted.commit));
    }
    const JobResult result = method(world);
    const std::set<std::pair<int, int>> blamed(result.blamed.begin(), result.blamed.end());
    out.exact += blamed == truth && !result.inconclusive;
    for (const auto& cell : blamed) out.wrong += !truth.contains(cell);
    out.attempts += result.attempts;
    out.runs += result.runs;
    out.steps += result.steps;
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  out.milliseconds = out.steps > 0 ? 1000 * seconds / out.steps : 0;
  for (double* sum : {&out.exact, &out.attempts, &out.runs, &out.wrong, &out.steps}) *sum /= jobs;
  return out;
}

// P(exact) / attempts / runs / wrong blames per job, as a cell of the document's table.
std::string cell(const Score& score) {
  return formatted(" %.3f / %.1f / %.0f / %.3f |", score.exact, score.attempts, score.runs,
                   score.wrong);
}

void print(const char* who, const Score& score) {
  std::printf("  %-22s %6.3f %9.2f %7.1f %7.4f\n", who, score.exact, score.attempts, score.runs,
              score.wrong);
}

void print_ours(const Row& row, const Score& score) {
  std::printf("  %-22s %6.3f %9.2f %7.1f %7.4f   %.0f steps of %.2f ms\n", "nightjar", score.exact,
              score.attempts, score.runs, score.wrong, score.steps, score.milliseconds);
  std::string below;
  if (score.exact < row.exact) below += " exact";
  if (score.attempts > row.attempts) below += " attempts";
  if (score.runs > row.runs) below += " runs";
  if (score.wrong > row.wrong) below += " wrong";
  std::printf("  %-22s %6.3f %9.2f %7.1f %7.4f   %s%s\n", "bar", row.exact, row.attempts, row.runs,
              row.wrong, below.empty() ? "met" : "NOT MET:", below.c_str());
}

double sum_of(const std::vector<double>& effects) {
  double sum = 0;
  for (double effect : effects) sum += effect;
  return effects.empty() ? .07 : sum;
}

// Returns the row of the document's table.
std::string play_row(const Row& row, double scale, bool rivals) {
  const int jobs = std::max(10, static_cast<int>(row.jobs * scale));
  std::printf("%s (%d jobs)\n", row.name.c_str(), jobs);
  bisect::SearchPolicy policy;
  policy.max_runs = 3000;
  policy.expected_noise = row.known_noise;
  const Score ours = play(row, jobs, [&](World& world) {
    if (row.before == Row::Before::nothing) return search(world, row.commits, policy);
    return second_search(world, row.commits, policy, row.before == Row::Before::same_culprit);
  });
  print_ours(row, ours);
  std::string line = "| " + row.name + formatted(" | %d |", jobs) + cell(ours);
  if (!row.effects.empty())
    std::printf("  %-22s %16.2f   of all searches, levels known, cells alike\n", "fewest attempts",
                fewest_attempts(row.commits, row.effects.size(), row.unbuildable));
  if (row.effects.size() > 1) {
    print("levels known, midpoints", play(row, 10 * jobs, [&](World& world) {
            return midpoints_of_known_levels(world, row.commits);
          }));
  }
  if (rivals) {
    for (const int runs : {1, 3, 10}) {
      const std::string name = "git bisect run x" + std::to_string(runs);
      const Score score =
          play(row, jobs, [&](World& world) { return plain_bisection(world, row.commits, runs); });
      print(name.c_str(), score);
      line += cell(score);
    }
    const int fewer = std::max(10, jobs / 4);  // slow, and no bar hangs on it
    const double sought = std::log1p(std::abs(sum_of(row.effects)));
    const Score score =
        play(row, fewer, [&](World& world) { return pinpoint_like(world, row.commits, sought); });
    print("Pinpoint-like", score);
    line += cell(score);
  }
  std::fflush(stdout);
  return line + "\n";
}

// Logarithms, exponentials and sums of products, as a step has them, always the same.
void fixed_arithmetic() {
  std::vector<double> levels(2000);
  double sum = 0;
  for (int pass = 1; pass <= 400; ++pass) {
    for (std::size_t i = 0; i < levels.size(); ++i)
      levels[i] = std::log1p(static_cast<double>(i) / (pass + sum * sum * 1e-12));
    for (const double level : levels) sum += std::exp(-level) * level;
  }
  if (!std::isfinite(sum)) std::abort();  // so that no compiler leaves it out
}

double step_ratio() {
  constexpr int turns = 15, searches = 3;
  return ratio_in_turns(
      turns,
      [] {
        for (std::uint64_t seed = 1; seed <= searches; ++seed) {
          WorldOptions options;
          options.planted = {{40, .07}};
          World world(options, seed);
          search(world, options.commits, {});
        }
      },
      fixed_arithmetic);
}

}  // namespace

int main(int count, char** arguments) {
  if (wants_ratio(count, arguments)) {
    print_ratio("search_step", step_ratio());
    return 0;
  }
  double scale = 1;
  std::string only, file;
  bool rivals = true;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--scale") scale = std::atof(arguments[i + 1]);
    if (name == "--only") only = arguments[i + 1];
    if (name == "--write") file = arguments[i + 1];
    if (name == "--rivals") rivals = std::string(arguments[i + 1]) != "no";
  }
  std::printf("%-24s %6s %9s %7s %7s   (a tenth of commits unbuildable)\n", "", "exact", "attempts",
              "runs", "wrong");
  std::string table =
      "Searches over 100 commits, a tenth of them unbuildable; P(exact) / build attempts / runs "
      "(ends, "
      "references and\nconfirmations included) / wrong blames a job, on fixed seeds:\n\n"
      "| world | jobs | nightjar | `git bisect run` ×1 | ×3 | ×10 | Pinpoint-like "
      "|\n|---|---:|---|---|---|---|---|\n";
  bool any = false;  // of these rows; without one their table stays as it is
  for (const Row& row : rows) {
    if (row.name.find(only) == std::string::npos) continue;
    table += play_row(row, scale, rivals);
    any = true;
  }
  table += formatted(
      "\nFewest attempts that any search could do with, on average and with levels known: %.1f for "
      "one culprit, "
      "%.1f for\ntwo, %.1f for two where everything builds, %.1f for one in 256.\n",
      fewest_attempts(100, 1, .1), fewest_attempts(100, 2, .1), fewest_attempts(100, 2, 0),
      fewest_attempts(256, 1, .1));
  const std::string costs = play_native_rows(scale, only);
  if (!file.empty() && any) write_figures(file, "search", table);
  if (!file.empty() && !costs.empty()) write_figures(file, "costs", costs);
  return 0;
}
