// Searches of days whose wheels have effects of their own: nightlies, wheels of CI and those of a
// builder. How many innocent commits are named, and how often a culprit that can be told from the
// wheels is named alone. Beside it the search that knows nothing of wheels, and plain bisection.
// Fixed seeds, one core. wheels_bench [--scale S] [--only TEXT] [--rivals no] [--write FILE]: S
// times the number of searches, worlds that hold TEXT; FILE: the document whose figures are to be
// these. The exit status is 1 if a bar is not met.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "tests/support/figures.hpp"
#include "tests/support/wheel_search.hpp"

using namespace nightjar;
using namespace nightjar::test;

namespace {

constexpr double max_innocents = .003;  // a search
constexpr double min_alone = .97;       // of those that can be told from the wheels

struct Row {
  std::string name;
  WheelDayOptions day;
};
struct Case {
  WheelCulprit culprit;
  const char* name;
};
const Case cases[] = {{WheelCulprit::python, "Python culprit"},
                      {WheelCulprit::native, "native culprit"},
                      {WheelCulprit::wheel, "only the wheel"},
                      {WheelCulprit::nothing, "nothing"}};

std::string name_of(const WheelDayOptions& day) {
  return formatted("origins %.0f %%, CI %.0f %%, %s, CV %.0f %%, N = %d%s", 100 * day.origin_sd,
                   100 * day.ci_wheels, day.builder ? "builder" : "no builder", 100 * day.cv,
                   day.commits, day.native > 0 ? "" : ", all Python");
}

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  const auto add = [&](WheelDayOptions day) { rows.push_back({name_of(day), day}); };
  for (const double sd : {0.0, .02, .05, .15})
    for (const double ci : {0.0, .6, .95})
      for (const bool builder : {false, true})
        add({.ci_wheels = ci, .builder = builder, .origin_sd = sd});
  for (const double ci : {0.0, .6, .95})
    for (const bool builder : {false, true}) add({.ci_wheels = ci, .builder = builder, .cv = .01});
  for (const double ci : {0.0, .95})
    for (const int commits : {6, 30}) add({.commits = commits, .native = 0, .ci_wheels = ci});
  for (const bool builder : {false, true}) add({.commits = 30, .builder = builder});
  return rows;
}

enum class Player { with_wheels, without_wheels, bisection };

struct Score {
  int searches = 0, culprits = 0, identifiable = 0;
  double innocents = 0, alone = 0, nobody = 0, wheel = 0;
  double runs = 0, builds = 0, makespan = 0, milliseconds = 0, steps = 0;

  Score& operator+=(const Score& other) {
    searches += other.searches, culprits += other.culprits, identifiable += other.identifiable;
    innocents += other.innocents, alone += other.alone, nobody += other.nobody;
    wheel += other.wheel, runs += other.runs, builds += other.builds, makespan += other.makespan;
    milliseconds += other.milliseconds, steps += other.steps;
    return *this;
  }
  double innocents_a_search() const { return innocents / searches; }
  // 1 if there is none.
  double alone_of_identifiable() const { return identifiable ? alone / identifiable : 1; }
};

WheelResult play_one(WheelDay& day, Player player) {
  if (player != Player::bisection) return WheelSearch(day, {}, player == Player::with_wheels).run();
  const TimedResult timed = timed_bisection(day, day.builds(), day.commits(), 10);
  WheelResult out;
  out.outcome = bisect::SearchOutcome::culprit;
  for (const auto& [from, to] : timed.job.blamed) out.culprits.push_back({from + 1, to});
  out.runs = timed.job.runs;
  out.builds = timed.builds;
  out.makespan = timed.makespan;
  return out;
}

// Adds a search's result. What is named with builds that differ in more than the step blames
// nobody.
void judge(const WheelDay& day, const WheelResult& result, Score& score) {
  bool right = false, any = false, innocent = false;
  for (const bisect::NamedStep& step : result.culprits) {
    if (!step.isolated) continue;
    any = true;
    const bool is_culprit =
        day.culprit() >= 0 && std::pair(step.first - 1, step.last) == day.cell();
    right |= is_culprit;
    innocent |= !is_culprit;
  }
  ++score.searches;
  score.culprits += day.culprit() >= 0;
  score.innocents += innocent;
  score.nobody += !any;
  score.wheel += result.outcome == bisect::SearchOutcome::wheel;
  if (day.identifiable()) {
    ++score.identifiable;
    score.alone += right && !innocent;
  }
  score.runs += result.runs;
  score.builds += result.builds;
  score.makespan += result.makespan;
  score.steps += result.steps;
}

Score play(WheelDayOptions options, WheelCulprit culprit, int searches, Player player) {
  options.culprit = culprit;
  Score out;
  const std::clock_t start = std::clock();
  for (int search = 0; search < searches; ++search) {
    WheelDay day(options, 0x6a09e667f3bcc909ULL + static_cast<std::uint64_t>(search));
    judge(day, play_one(day, player), out);
  }
  out.milliseconds = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return out;
}

void print(const char* who, const Score& score) {
  const double n = score.searches;
  std::printf("    %-20s %7.4f %6.3f (%3d) %6.3f %6.3f %7.1f %5.2f %7.1f %7.1f ms, %.1f steps\n",
              who, score.innocents_a_search(), score.alone_of_identifiable(), score.identifiable,
              score.nobody / n, score.wheel / n, score.runs / n, score.builds / n,
              score.makespan / n, score.milliseconds / n, score.steps / n);
}

bool met(const char* what, double value, double bar, bool at_least) {
  const bool good = at_least ? value >= bar : value <= bar;
  std::printf("  %-55s %.4f, bar %.3f: %s\n", what, value, bar, good ? "met" : "NOT MET");
  return good;
}

std::string cell(const Score& all, const Score& wheel) {
  const double n = all.searches;
  const std::string of_wheel =
      wheel.searches ? formatted("%.3f", wheel.nobody / wheel.searches) : std::string("–");
  const std::string alone =
      all.identifiable ? formatted("%.3f", all.alone_of_identifiable()) : std::string("–");
  return formatted(" %.1f / %s / %s / %.0f / %.1f / %.0f |", 1000 * all.innocents_a_search(),
                   alone.c_str(), of_wheel.c_str(), all.runs / n, all.builds / n, all.makespan / n);
}

struct Outcome {
  bool any = false, good = true;
};

// Plays the worlds of one row whose names hold `only`.
Outcome play_row(const Row& row, int searches, const std::string& only, bool rivals,
                 std::string& table) {
  constexpr Player players[] = {Player::with_wheels, Player::without_wheels, Player::bisection};
  const char* const names[] = {"nightjar", "without wheels", "git bisect run x10"};
  Score all[3], wheel[3];
  Outcome out;
  for (const Case& each : cases) {
    const std::string world = row.name + ": " + each.name;
    const bool no_such = row.day.native == 0 && each.culprit == WheelCulprit::native;
    if (no_such || world.find(only) == std::string::npos) continue;
    out.any = true;
    std::printf("  %s (%d searches)\n", world.c_str(), searches);
    for (int i = 0; i < (rivals ? 3 : 1); ++i) {
      const Score score = play(row.day, each.culprit, searches, players[i]);
      print(names[i], score);
      all[i] += score;
      if (each.culprit == WheelCulprit::wheel) wheel[i] += score;
    }
    std::fflush(stdout);
  }
  if (!out.any) return out;
  out.good =
      met("innocent commits named a search", all[0].innocents_a_search(), max_innocents, false);
  if (all[0].identifiable > 0)
    out.good &= met("culprits named alone that can be told from the wheels",
                    all[0].alone_of_identifiable(), min_alone, true);
  if (wheel[0].searches > 0)
    out.good &= met("nobody named where only the wheel changed",
                    wheel[0].nobody / wheel[0].searches, 1 - max_innocents, true);
  table += "| " + row.name + " |";
  for (int i = 0; i < (rivals ? 3 : 1); ++i) table += cell(all[i], wheel[i]);
  table += "\n";
  return out;
}

}  // namespace

int main(int count, char** arguments) {
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
  const int searches = std::max(5, static_cast<int>(250 * scale));
  std::printf("    %-20s %7s %6s %5s %6s %6s %7s %5s %7s\n", "", "wrong", "alone", "", "nobody",
              "wheel", "runs", "built", "time");
  std::string table;
  bool any = false, good = true;
  for (const Row& row : all_rows()) {
    const Outcome outcome = play_row(row, searches, only, rivals, table);
    any |= outcome.any;
    good &= outcome.good;
  }
  const std::string head = formatted(
      "Innocent commits named in 1,000 searches / culprits named alone, of those that can be told "
      "from the wheels / nobody\nnamed where only the wheel changed / runs / builds / makespan in "
      "runs. %d searches of each of a row's worlds, on fixed\nseeds:\n\n| world | with wheels | "
      "without | `git bisect run` ×10 |\n|---|---|---|---|\n",
      searches);
  if (!file.empty() && any && rivals) write_figures(file, "wheels", head + table);
  return good ? 0 : 1;
}
