// Workloads that the catalog does not list and that exist all the same: listed ones on another
// device, in another precision or size, at another batch size, with another backend or thread
// count. They are asked for by their exact names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/catalog/catalog.hpp"

namespace nightjar::runner {

// Returns the entry for `name` if it varies one of `catalog`, at that one's version. nullopt if
// there is none to vary, or if the programs do not know the variation.
std::optional<CatalogEntry> variant_of(const std::vector<CatalogEntry>& catalog,
                                       const WorkloadName& name);

// Returns `catalog`, followed by those of `names` that vary it and are not in it.
std::vector<CatalogEntry> with_variants(std::vector<CatalogEntry> catalog,
                                        const std::vector<std::string>& names);

// The same workload at `batch`.
CatalogEntry at_batch(const CatalogEntry& entry, const std::string& batch);

}  // namespace nightjar::runner
