// The program `simulation`: plays seeds, says what each failing one violates and how to run it
// again, and how fast it was.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <sqlite3.h>
#include <sstream>

#include "storage/base/log.hpp"
#include "tests/bench/ratio.hpp"
#include "tests/simulation/shrink.hpp"

using namespace nightjar;
using namespace nightjar::simulation;

namespace {

constexpr int progress_every = 10;  // s

std::set<Fault> parse_faults(const std::string& text) {
  std::set<Fault> faults;
  std::stringstream names(text == "none" ? "" : text);
  for (std::string name; std::getline(names, name, ',');) faults.insert(require_enum<Fault>(name));
  return faults;
}

struct Totals {
  std::uint64_t seeds = 0, failed = 0;
  long days = 0, sessions = 0, deaths = 0, fixes = 0;

  void add(const Outcome& outcome) {
    ++seeds;
    failed += outcome.violation.has_value();
    days += outcome.days;
    sessions += outcome.sessions;
    deaths += outcome.deaths;
    fixes += outcome.fixes;
  }
};

Outcome play(const Plan& plan, bool twice) {
  Outcome outcome = simulate(plan);
  if (twice && !outcome.violation && simulate(plan).trace != outcome.trace)
    outcome.violation = Violation{"a seed is one story", "it was another one the second time"};
  return outcome;
}

// Returns the CPU time of this process, which other work on the machine does not change.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void say(const Totals& totals, double seconds, const char* what) {
  std::printf(
      "%s%llu seeds, %llu failed; %ld simulated days in %.1f s, %.1f days a second on one "
      "core; %ld sessions, %ld deaths, %ld improvements named\n",
      what, static_cast<unsigned long long>(totals.seeds),
      static_cast<unsigned long long>(totals.failed), totals.days, seconds,
      static_cast<double>(totals.days) / seconds, totals.sessions, totals.deaths, totals.fixes);
  std::fflush(stdout);
}

// A table in memory that is filled, searched and changed with bare SQLite, always in the same way.
void fixed_sqlite() {
  sqlite3* db = nullptr;
  bool done = sqlite3_open(":memory:", &db) == SQLITE_OK;
  for (const char* sql :
       {"CREATE TABLE run (id INTEGER PRIMARY KEY, build INTEGER, reason TEXT)",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
        "INSERT INTO run SELECT i, i * 7919 % 200003, 'run ' || i FROM n",
        "CREATE INDEX run_by_build ON run (build)",
        "UPDATE run SET reason = reason || (SELECT other.id FROM run AS other "
        "WHERE other.build = run.id)"})
    done = done && sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(db);
  if (!done) throw std::runtime_error("the fixed work with SQLite failed");
}

// Simulated days per second, in units of that work.
double days_ratio() {
  constexpr int turns = 3;
  const Plan plan = make_plan(1, {});
  return nightjar::test::ratio_in_turns(turns, [&] { simulate(plan); }, fixed_sqlite);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Plays the service, its runners and all that may go wrong, from a seed");
  std::uint64_t base = 1, count = 1;
  std::optional<std::uint64_t> seed;
  Bounds bounds;
  std::string faults = "all";
  bool keep = false, stop = false, twice = false, only_ratio = false;
  app.add_option("--seed", seed, "play this seed alone");
  app.add_option("--seeds", count, "number of seeds to play");
  app.add_option("--base", base, "the first of them");
  app.add_option("--nights", bounds.nights, "most nights with faults");
  app.add_option("--classes", bounds.classes, "most machine classes");
  app.add_option("--runners", bounds.runners, "most runners of a class");
  app.add_option("--steps", bounds.steps, "most planted steps");
  app.add_option("--gains", bounds.gains, "most planted improvements");
  app.add_option("--wheels", bounds.wheels, "most nightlies whose wheels are slower");
  app.add_option("--native", bounds.native, "0: no native commits, and no wheels of CI");
  app.add_option("--packages", bounds.packages, "0: no nightly is broken as a package");
  app.add_option("--faults", faults, "no other faults than these, or none: kill,loss");
  app.add_flag("--as-it-is", keep, "do not look for a smaller run that fails");
  app.add_flag("--twice", twice, "play each seed twice: it must be the same story");
  app.add_flag("--ratio", only_ratio, "print days per second beside bare SQLite, for the gate");
  app.add_flag("--stop", stop, "end with the first seed that fails");
  CLI11_PARSE(app, argc, argv);
  try {
    if (faults != "all") bounds.faults = parse_faults(faults);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "simulation: --faults: %s\n", error.what());
    return 2;
  }
  if (seed) base = *seed, count = 1;
  nightjar::log::only(nightjar::log::Level::off);
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);  // all of it happens on this thread
  if (only_ratio) {
    nightjar::test::print_ratio("simulation", days_ratio());
    return 0;
  }
  Totals totals;
  double said = 0;
  for (std::uint64_t number = base; number < base + count; ++number) {
    const Outcome outcome = play(make_plan(number, bounds), twice);
    totals.add(outcome);
    if (const auto& violation = outcome.violation) {
      const Bounds small = keep ? bounds : shrink(number, bounds, *violation);
      std::printf("FAILED %s: %s; run again: build/bin/simulation %s\n",
                  violation->invariant.c_str(), violation->what.c_str(),
                  arguments_of(number, small).c_str());
      std::fflush(stdout);
    }
    if (stop && outcome.violation) break;
    const double seconds = cpu_seconds();
    if (seconds - said < progress_every) continue;
    said = seconds;
    say(totals, seconds, "... ");
  }
  say(totals, cpu_seconds(), "");
  return totals.failed == 0 ? 0 : 1;
}
