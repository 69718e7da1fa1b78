// The RECORD of an unpacked environment. It proves the environment and names its native part.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/build/unpack.hpp"
#include "storage/base/wheel_record.hpp"

namespace nightjar::runner {

// Throws BrokenArchive for a malformed line. A file that is not there is an empty RECORD.
Record read_record(const std::filesystem::path& file);

// The RECORD of a distribution in `site_packages`, spelled as its wheel is; empty if there is none.
std::filesystem::path find_record(const std::filesystem::path& site_packages,
                                  const std::string& distribution);

// Brings the RECORD of the distribution up to date after an overlay: adds the files that it laid
// over, and drops those that it removed. Otherwise changed headers would pass for those that
// native workloads were compiled against. The file is made again, since it may be a hard link.
void record_overlay(const std::filesystem::path& site_packages, const std::string& distribution,
                    const Contents& laid_over, const std::vector<std::string>& removed);

// Throws BrokenArchive that names the first file which does not fit RECORD (record_misfit). Files
// of .data folders and byte code are not looked at: they are unpacked elsewhere, or not at all.
void verify(Record record, const Contents& contents, bool laid_over = false);

// The same for a distribution that was installed before: hashes the files that its RECORD lists.
void verify_installed(const std::filesystem::path& site_packages, const std::string& distribution,
                      bool laid_over);

}  // namespace nightjar::runner
