// The packages that builds are installed with.
#pragma once

#include <optional>

#include "storage/database.hpp"
#include "storage/model/id.hpp"
#include "storage/model/lock.hpp"
#include "storage/model/time.hpp"

namespace nightjar::storage {

// Written once; the same text again changes nothing.
void add_lock(Transaction& transaction, const Lock& lock, Time now);
std::optional<Lock> find_lock(const Database& db, const Sha256& sha256);

// Whether source, packages or wheel made a regression. It replaces what was said before; how far
// its packages are searched stays.
void set_attribution(Transaction& transaction, RegressionId regression,
                     const Attribution& attribution);
std::optional<Attribution> attribution_of(const Database& db, RegressionId regression);

}  // namespace nightjar::storage
