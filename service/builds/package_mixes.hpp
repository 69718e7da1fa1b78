// Environments between those of two builds: the good end's packages, of which some have the bad
// end's version. What a search for a package asks of the indexes is a task; looking waits for the
// network, never on the writer's thread.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "service/config.hpp"
#include "storage/database.hpp"
#include "storage/model/build.hpp"
#include "storage/model/lock.hpp"
#include "storage/model/package_search.hpp"

namespace nightjar::service {

// The chain from the good end's packages to the bad end's, one package a position. What is new
// comes first and what is gone comes last, so that few environments lack what they need.
std::vector<PackageMix> chain_between(const Lock& good, const Lock& bad);
// The packages of a search's environment, by name. `good`: those of the good end.
std::vector<LockedPackage> packages_at(const PackageSearch& search, int position, const Lock& good);

// To resolve the packages of one environment, or to list versions of one package.
struct PackageTask {
  PackageSearchId search;
  std::optional<int> position;          // nullopt: list versions
  std::vector<LockedPackage> packages;  // of the environment
  std::string name, good, bad;          // the package, and its versions at both ends
  BuildNeeds needs;                     // for which Python and platform
};
// nullopt: nothing is asked for now.
std::optional<PackageTask> next_package_task(const storage::Database& db, Time now);

// The result of one task: what was found, why nothing was, or why the indexes did not answer.
struct PackageFinding {
  PackageTask task;
  std::optional<Lock> lock = {};
  std::vector<std::string> versions = {};  // between good and bad, from one to the other
  std::string inconsistent = {};
  std::string failure = {};
};
// Never throws for what uv or an index does.
PackageFinding look(const PackageTask& task, const Config::Environment& config,
                    std::stop_token stop = {});
// In the caller's transaction. After twenty failures an environment counts as unavailable.
void apply(storage::Transaction& transaction, const PackageFinding& finding, Time now);

}  // namespace nightjar::service
