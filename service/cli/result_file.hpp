// The file or folder in which a measure leaves its numbers. One of an earlier run is never read as
// this run's. Used by `bisect run --measure-file`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nightjar::cli {

// Before anything is measured: throws BadInput if `file` cannot serve. A relative one is in the
// commit's work tree. An absolute one must not exist yet, because every run removes it.
void require_result_place(const std::filesystem::path& file);

// Removes what an earlier run, the build or the commit itself left there. Throws Broken if that
// fails, or if the place is outside the work tree, to which a symbolic link may lead.
void remove_result(const std::filesystem::path& file, const std::filesystem::path& tree);

struct ResultText {
  std::filesystem::path path;
  std::string text;
};
// What the run wrote: of a folder every file below it that ends in .json, except copies of earlier
// runs and the estimates beside samples, as Criterion keeps both. Empty: it wrote nothing. Throws
// std::runtime_error for a file that cannot be read or is over 256 MiB.
std::vector<ResultText> read_result(const std::filesystem::path& file,
                                    const std::filesystem::path& tree);

}  // namespace nightjar::cli
