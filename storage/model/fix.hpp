// The search for the commit that made a build better. It belongs to no regression and blames
// nobody.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/id.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// Why no commits were searched. packages_differ: the builds have different packages, so it is not
// known whether a commit made it better. no_range: their commits do not follow one another on the
// main branch, or the build before is not known. no_series: only failures got better, whose kind no
// confirmation has told.
NIGHTJAR_ENUM(FixNotSearched, packages_differ, no_range, no_series);

// A cause that a search found: the commits, and whether they are only a range of which one did it.
// The ratio is of the inverted cost, so above 1 is better, whichever way the metric counts.
struct NamedCause {
  Culprit commits;
  bool is_range = false;
};

// One for each build and machine class. How it goes and how it ended says its bisection.
struct FixSearch {
  FixId id;
  NightId night;  // the second one that showed it
  MachineId machine;
  std::optional<BuildId> before;  // the last build at the level before; nullopt: not known
  BuildId build;                  // the first one that is better
  SeriesId series;                // the lead: the clearest improvement
  Time opened_at{};
  std::optional<FixNotSearched> not_searched;  // then it has no bisection
  std::vector<NamedCause> causes;              // that it named; empty while it is open
  std::string evidence;                        // JSON object; empty while it is open
};

// What a search explains: a series changed between two builds, on one machine class.
struct SearchedChange {
  // Either is searched alike.
  SearchedChange(const Regression& found)
      : regression(found.id),
        night(found.night),
        machine(found.machine),
        good(found.good),
        bad(found.bad),
        unfinished(found.unfinished) {}
  // `fix` has a build before it.
  SearchedChange(const FixSearch& fix)
      : night(fix.night), machine(fix.machine), good(*fix.before), bad(fix.build) {}

  std::optional<RegressionId> regression;  // nullopt: it got better
  NightId night;
  MachineId machine;
  BuildId good, bad;   // before and after it
  int unfinished = 0;  // confirmations that were cut short

  bool is_better() const { return !regression; }
};

}  // namespace nightjar
