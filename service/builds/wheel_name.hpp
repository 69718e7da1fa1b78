// The file name of a wheel, taken apart (PEP 427 and PyTorch's way of numbering nightlies).
// Used by the sources of builds and by environment_of().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/hex.hpp"

namespace nightjar::service {

// "2.15.0.dev20260820+cpu": base 2.15.0, date 2026-08-20, variant cpu. "2.13.0" has neither. A
// wheel of CI is "2.15.0a0+git1234567": its variant is "git1234567".
struct TorchVersion {
  std::string text;
  std::vector<int> base;  // 2, 15, 0
  std::string date;       // "2026-08-20"; empty: no nightly
  std::string variant;    // empty: none named
};
// nullopt unless it is numbers between dots, then at most "a" with a number, ".devYYYYMMDD" (a real
// date) and "+variant".
std::optional<TorchVersion> parse_version(std::string_view text);

struct WheelName {
  std::string distribution;  // "torch"
  TorchVersion version;
  std::vector<std::string> python_tags;    // "cp311"; "py2.py3" is two
  std::vector<std::string> platform_tags;  // "manylinux_2_28_x86_64"
  // For this Python, or any Python 3, on Linux x86-64: what our runners can install.
  bool fits(std::string_view python_tag) const;
};
// nullopt unless `file_name` is a well-formed wheel name without a folder.
std::optional<WheelName> parse_wheel_name(std::string_view file_name);

// The local part of a version whose wheel has no version file: "cpu.g1a2b3c4d" is variant cpu of
// commit 1a2b3c4d. Either may be missing; "git" may stand in place of "g".
struct LocalParts {
  std::string variant;
  std::string commit;  // its first digits, 7 or more
};
LocalParts local_parts(std::string_view local_version);

// Whether a version's local part is "git" and the beginning of the commit, at least 7 digits.
bool names_commit(std::string_view local_version, const CommitSha& commit);

// The last part of a URL's or file's path, decoded, without query and fragment; empty if there is
// none.
std::string file_name_of(std::string_view url);

}  // namespace nightjar::service
