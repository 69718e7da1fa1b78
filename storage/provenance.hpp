// How the wheels that we have were made.
#pragma once

#include <optional>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/build.hpp"
#include "storage/model/provenance.hpp"

namespace nightjar::storage {

// Written once a wheel; the same wheel again changes nothing.
void add_provenance(Transaction& transaction, const Provenance& provenance);
std::optional<Provenance> find_provenance(const Database& db, const Sha256& wheel);
// Proved wheels of which nobody has read how they were made, the newest first.
std::vector<Build> builds_without_provenance(const Database& db);
// The recipe by which a builder made this build; nullopt: no builder did.
std::optional<Sha256> recipe_of_build(const Database& db, BuildId build);

}  // namespace nightjar::storage
