// The libraries that NVIDIA's packages brought to a build, read from its files. No Python is asked:
// one that has a build on its path runs the build's code.
#pragma once

#include <filesystem>
#include <vector>

namespace nightjar::runner {

// Returns the folders of `site_packages` that have such libraries: nvidia/*/lib first, then those
// that a package named nvidia-... says in its RECORD. Never a folder that lies elsewhere, also by a
// symbolic link: what is returned is shown to the build's runs.
std::vector<std::filesystem::path> libraries_of_packages(
    const std::filesystem::path& site_packages);

}  // namespace nightjar::runner
