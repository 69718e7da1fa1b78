// Archives from outside, unpacked so that nothing lands beside the target: wheels (zip) and
// overlays (tar). Only regular files and folders; no absolute path, no "..", no link. If members
// have the same name, the last one counts, as for pip and uv.
#pragma once

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "storage/base/wheel_record.hpp"

namespace nightjar::runner {

// The archive itself is at fault: asking for it again will not help.
struct BrokenArchive : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Whether a member is in a folder of Python's byte code, "__pycache__". None is ever unpacked.
bool is_byte_code(const std::string& path);

// Throws BrokenArchive for anything suspicious, and std::system_error if the disk refuses. What was
// written before stays, so unpack into a temporary folder.
Contents unpack_wheel(const std::filesystem::path& wheel, const std::filesystem::path& to);

// Writes each member into `site_packages` in place of the file there. That may be a hard link into
// another environment, so it is unlinked first, with the byte code compiled from it. Unlinks
// `removed` before that.
Contents lay_over(const std::filesystem::path& tar, const std::set<std::string>& removed,
                  const std::filesystem::path& site_packages);

// Returns `path` if it stays below the folder it is relative to. Throws BrokenArchive otherwise.
std::string safe_path(const std::string& path);

}  // namespace nightjar::runner
