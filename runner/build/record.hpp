// A wheel's RECORD lists what it installs, with hashes. It proves an unpacked environment and names
// its native part.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runner/build/unpack.hpp"

namespace nightjar::runner {

struct RecordEntry {
  std::string sha256;       // hexadecimal; empty: RECORD gives none
  std::int64_t bytes = -1;  // -1: RECORD gives none
};
using Record = std::map<std::string, RecordEntry>;

// Throws BrokenArchive for a malformed line.
Record parse_record(std::string_view text);
// The other way.
std::string record_text(const Record& record);

// The RECORD of a distribution in `site_packages`, spelled as its wheel is; empty if there is none.
std::filesystem::path find_record(const std::filesystem::path& site_packages,
                                  const std::string& distribution);

// Makes the RECORD of the distribution tell what is there after an overlay: the files that
// it laid over, and not those that it removed. Else changed headers would pass for those that
// native workloads were compiled against. The file is written anew, since it may be a hard link.
void record_overlay(const std::filesystem::path& site_packages, const std::string& distribution,
                    const Contents& laid_over, const std::vector<std::string>& removed);

// Throws BrokenArchive that names the first file which is missing or differs from RECORD. PyTorch's
// CI lays the Python files of a commit over an older wheel and leaves RECORD as it was: where
// `laid_over` they may differ, and so may the wheel's own .dist-info.
void verify(const Record& record, const Contents& contents, bool laid_over = false);

// The same of a distribution that was installed before: hashes the files that its RECORD lists.
void verify_installed(const std::filesystem::path& site_packages, const std::string& distribution,
                      bool laid_over);

}  // namespace nightjar::runner
