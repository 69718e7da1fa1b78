// Installs the packages of a lock by uv: these versions with these hashes, wheels only, so that
// nothing of them runs. It does not translate them to byte code either, since uv's Python would do
// that unconfined in their folder. Used by Environments.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

namespace nightjar::runner {

struct Installer {
  std::string uv;
  std::filesystem::path python;  // for which they are installed
};

// Throws BrokenArchive if a line of a requirements file is something else than a pinned package,
// its hash, or the address of an index: a path or an option could have uv run a build's own code.
void require_pins(std::string_view lock);

// Makes the folder `to` with the packages of the requirements file `lock`. Throws as require_pins()
// does, and TransientFailure, since that a package cannot be had now says nothing of the build that
// wants it.
void install_locked(const Installer& with, const std::filesystem::path& lock,
                    const std::filesystem::path& to, std::stop_token stop);

}  // namespace nightjar::runner
