// The checkout that this program was built in, for running it without installing it.
#pragma once

#include <filesystem>

namespace nightjar::runner {

// Returns the folder two above the program's own (build/bin/ of a checkout). It is empty if that
// holds no workloads, as in an installation. A copied or moved checkout finds itself.
std::filesystem::path source_tree();

}  // namespace nightjar::runner
