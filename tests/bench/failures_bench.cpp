// The search for failures beside `git bisect run` and flake-aware culprit finding, in simulated
// repositories whose test fails at one rate before a commit and at another from it on. Fixed
// seeds, one core. failures_bench [--jobs N] [--only TEXT] [--write FILE]: N searches a row.
#include <cstdlib>

#include "tests/support/failing_world.hpp"
#include "tests/support/figures.hpp"

using namespace nightjar;
using namespace nightjar::test;

namespace {

struct Row {
  std::string name;
  double before = 0, after = 0;  // rates; alike: there is no culprit
};

const std::vector<Row> rows = {
    {"0 to 100 %", 0, 1},          {"0 to 50 %", 0, .5},      {"0 to 20 %", 0, .2},
    {"0 to 5 %", 0, .05},          {"2 to 20 %", .02, .2},    {"2 to 100 %", .02, 1},
    {"nobody, never fails", 0, 0}, {"nobody, 2 %", .02, .02}, {"nobody, 20 %", .2, .2},
};

struct Score {
  double exact = 0, wrong = 0, runs = 0;
};

template <class Method>
Score play(const Row& row, int jobs, Method method) {
  Score out;
  for (int job = 0; job < jobs; ++job) {
    FailingWorld world(row.before, row.after, static_cast<std::uint64_t>(job));
    const FailureResult result = method(world);
    const std::set<int> blamed(result.blamed.begin(), result.blamed.end());
    std::set<int> truth;
    if (row.before != row.after) truth.insert(world.culprit());
    out.exact += blamed == truth;
    for (const int commit : blamed) out.wrong += !truth.contains(commit);
    out.runs += world.runs();
  }
  for (double* sum : {&out.exact, &out.wrong, &out.runs}) *sum /= jobs;
  return out;
}

std::string cell(const Score& score) {
  return formatted(" %.3f / %.3f / %.0f |", score.exact, score.wrong, score.runs);
}

}  // namespace

int main(int count, char** arguments) {
  int jobs = 300;
  std::string only, file;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--jobs") jobs = std::max(1, std::atoi(arguments[i + 1]));
    if (name == "--only") only = arguments[i + 1];
    if (name == "--write") file = arguments[i + 1];
  }
  std::string table =
      "Searches over 100 commits, " + std::to_string(jobs) +
      " a row; P(exact) / false blames a search / runs, on fixed seeds:\n\n"
      "| failure rate | nightjar | `git bisect run` | flake-aware |\n|---|---|---|---|\n";
  for (const Row& row : rows) {
    if (row.name.find(only) == std::string::npos) continue;
    std::string line = "| " + row.name + " |";
    line += cell(play(row, jobs, [](FailingWorld& world) { return failure_search(world); }));
    line += cell(play(row, jobs, [](FailingWorld& world) { return one_run_each(world); }));
    line += cell(play(row, jobs, [&](FailingWorld& world) {
      return flake_aware(world, std::max(row.before, .01));
    }));
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    table += line + "\n";
  }
  if (!file.empty() && only.empty()) write_figures(file, "failures", table);
  return 0;
}
