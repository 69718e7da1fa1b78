// Environments of neighbouring wheels differ in a few files of 14,000. What is the same is kept
// once, as hard links, with its byte code. Used by Environments.
#pragma once

#include <cstddef>
#include <filesystem>

#include "runner/build/unpack.hpp"

namespace nightjar::runner {

// Replaces those of `contents` below `to` that have the same bytes below `from` by hard links to
// them, and links the byte code compiled from them. So it need not be compiled again. Returns how
// many files were replaced. Throws std::filesystem::filesystem_error if the disk refuses.
std::size_t share_files(const std::filesystem::path& from, const std::filesystem::path& to,
                        const Contents& contents);

}  // namespace nightjar::runner
