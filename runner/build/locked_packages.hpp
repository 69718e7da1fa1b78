// Installs the packages of a lock by uv: these versions with these hashes, wheels only, so that
// nothing of them runs. It does not translate them to byte code either, since uv's Python would do
// that unconfined in their folder. Used by Environments.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::runner {

struct Installer {
  std::string uv;
  std::filesystem::path python;       // for which they are installed
  std::filesystem::path cache;        // of uv
  std::vector<std::string> internal;  // origins on internal addresses that indexes may lead to
};

// Makes the folder `to` with the packages of the lock in the file `lock`. Throws TransientFailure
// if a package cannot be downloaded now, which is not the fault of the build that wants it, and
// BrokenArchive if the file has a line that is not of a lock. uv sees only what web::IndexMirror
// shows it of the lock's indexes, and only the cache of this user's files.
void install_locked(const Installer& with, const std::filesystem::path& lock,
                    const std::filesystem::path& to, std::stop_token stop);

// Throws BrokenArchive if a package has a file where the build has one, or below one of the build's
// Python packages. It may share a namespace with the build. What is compiled against the build is
// shared with others, so a package must not change it.
void require_apart(const std::filesystem::path& packages, const std::filesystem::path& build);

}  // namespace nightjar::runner
