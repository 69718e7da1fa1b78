// Searches for the package that made a build worse.
#pragma once

#include <optional>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/package_search.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::storage {

// One a regression and number: the one that is there is returned unchanged.
PackageSearch add_package_search(Transaction& transaction, const PackageSearch& search);
void update_package_search(Transaction& transaction, const PackageSearch& search);
std::optional<PackageSearch> find_package_search(const Database& db, PackageSearchId id);
std::vector<PackageSearch> package_searches_of(const Database& db, RegressionId regression);
// That are under way, oldest first.
std::vector<PackageSearch> open_package_searches(const Database& db);
void add_package_job(Transaction& transaction, PackageSearchId id, const BisectionJob& job);
std::vector<BisectionJob> jobs_of_package_search(const Database& db, PackageSearchId id);

// When the packages of an attribution have been searched; nullopt: they are not yet.
void end_package_searches(Transaction& transaction, RegressionId regression, Time now);
// Where the pins of the packages moved, the oldest first; written once.
void set_pin_moves(Transaction& transaction, RegressionId regression,
                   const std::vector<PinMove>& moves);
std::vector<PinMove> pin_moves_of(const Database& db, RegressionId regression);
bool packages_are_searched(const Database& db, RegressionId regression);

}  // namespace nightjar::storage
