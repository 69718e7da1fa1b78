// Whether a work tree has the files that its index lists, read without another process. A search
// makes a work tree for each commit that it measures. Used by tree_maker.hpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace nightjar::cli {

// The first path of `index` that is not in `tree`, as `git ls-files --deleted` finds it; empty if
// all are there. Left out are paths that a sparse checkout leaves out. `index`: the bytes of git's
// file of version 2 or 3, whose hashes have `hash_bytes`. nullopt for another one, a split one, or
// one that is broken: then git must be asked.
std::optional<std::string> missing_file(std::string_view index, const std::filesystem::path& tree,
                                        std::size_t hash_bytes);

}  // namespace nightjar::cli
