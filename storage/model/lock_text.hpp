// The text of a lock: a requirements file that has packages with versions and hashes, and the
// indexes they came from, and nothing else. What a package's name and version may be is said here,
// too. Pure; written by the service, read by whoever installs a lock.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/hex.hpp"
#include "storage/model/lock.hpp"

namespace nightjar {

// By PEP 508: letters and digits, and between them also "-", "_" and ".".
bool is_package_name(std::string_view text);
// What a version by PEP 440 is made of, "1!2.0rc1+cu130", at most 100 characters.
bool is_package_version(std::string_view text);

struct PinnedPackage {
  LockedPackage package;
  std::vector<Sha256> hashes;  // of its files; at least one
};
struct LockText {
  std::vector<std::string> indexes;  // without user information; the first has the say
  std::vector<PinnedPackage> packages;
};

// nullopt for a line that is none of ours: another option, a URL, a path, a marker, a comment, a
// package without a hash, an index with user information.
std::optional<LockText> parse_lock_text(std::string_view text);
// Writes a lock as uv does, so that parse_lock_text() can read it and pip and uv can install it.
std::string text_of(const LockText& lock);
// Writes only the packages: the installer learns in another way where to get them.
std::string packages_text(const LockText& lock);

}  // namespace nightjar
