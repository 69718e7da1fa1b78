// The checkout that this program was built in, for running it without installing it.
#pragma once

#include <filesystem>

namespace nightjar::runner {

// The folder two above the program's own (build/bin/ of a checkout); empty if it holds no
// workloads, as where the program is installed. Found anew each time, so that a copied or moved
// checkout is its own.
std::filesystem::path source_tree();

}  // namespace nightjar::runner
