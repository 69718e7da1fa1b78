// The models of a TorchBench checkout as workloads:
// torchbench/<model>/<train|eval>/<device>/<precision>/bN/ <backend>. Nothing of the checkout is
// imported.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/catalog/external.hpp"

namespace nightjar::runner {

// Every model, train and eval, at its default batch size on the CPU. Throws std::runtime_error if
// `checkout` is no TorchBench.
std::vector<CatalogEntry> torchbench_catalog(const std::filesystem::path& checkout);

// Returns our workloads, a person's own, those of a checkout if there is one, and the variants of
// all these that `names` spells out.
std::vector<CatalogEntry> whole_catalog(const std::filesystem::path& workloads,
                                        const std::filesystem::path& checkout,
                                        const Externals& externals,
                                        const std::vector<std::string>& names);

}  // namespace nightjar::runner
