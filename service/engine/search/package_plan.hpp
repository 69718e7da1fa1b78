// Which question about the packages comes next, and what the answers say together. Pure.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "storage/model/lock.hpp"
#include "storage/model/package_search.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

struct PackagePlanFacts {
  Regression regression;
  Lock good, bad;
  BuildId wheel;                        // that runs with the packages of both ends
  std::vector<PackageSearch> searches;  // so far; none is under way
};
struct PackagesDone {};
// First all packages that differ, if there are several. If one of them did it, it is asked whether
// it needs another one that changed before it, and then which of its versions did it.
std::variant<PackageSearch, PackagesDone> next_question(const PackagePlanFacts& facts, Time now);

// A package that made it worse: its last version that did not, and the first one that did. An empty
// version: it is not installed. The ratio is after/before as measured; without one, it is 1.
struct NamedPackage {
  std::string name, before, after;
  double ratio = 1, low = 1, high = 1;
};
struct PackageCause {
  std::vector<NamedPackage> packages;  // empty: none could be named
  bool together = false;               // each of them needs the others
  std::string said;                    // "numpy 2.1.3 made it worse, 2.1.2 did not"
  std::vector<std::string> left_out;   // environments that could not be measured, and why
};
// `searches`: all of a regression, none under way.
PackageCause package_cause(const std::vector<PackageSearch>& searches, const Lock& good,
                           const Lock& bad);

// A commit between the ends that changed a file which pins versions, with the file before and
// after.
struct PinChange {
  PinMove at;
  std::string before, after;
};
// Returns the changes that moved the pin of one of these packages, by the file's name or a changed
// line. If there are none, returns all changes: another pin may have moved the package.
std::vector<PinMove> pin_moves(const std::vector<PinChange>& changes,
                               const std::vector<NamedPackage>& packages);

}  // namespace nightjar::service
