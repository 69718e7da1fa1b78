// Installs the packages of a lock by uv: these versions with these hashes, wheels only, so that
// nothing of them runs. Used by Environments.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

namespace nightjar::runner {

struct Installer {
  std::string uv;
  std::filesystem::path python;  // for which they are installed
};

// Makes the folder `to` with the packages of the requirements file `lock`. Throws TransientFailure,
// since that a package cannot be had now says nothing of the build that wants it.
void install_locked(const Installer& with, const std::filesystem::path& lock,
                    const std::filesystem::path& to, bool byte_code, std::stop_token stop);

}  // namespace nightjar::runner
