// What `bisect versions` asks of uv, as its user: which releases there are, and an environment with
// one of them. uv's own settings count, such as the indexes of its configuration.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace nightjar::cli {

struct UvOptions {
  std::string program = "uv";
  std::string python;             // version or path, as uv has it; empty: uv chooses
  std::string index;              // an address, or a folder of wheels; empty: as uv is configured
  std::vector<std::string> with;  // further requirements in each environment
  bool pre_releases = false;
};

class Uv {
 public:
  Uv(const UvOptions& options, std::stop_token stop);

  // The version as the index spells it: 2.2.0 for 2.2. Throws BadInput with uv's words if nothing
  // can be installed of it, `role` being "good end", and Broken if uv cannot ask or is missing.
  std::string exact_version(const std::string& package, const std::string& version,
                            const std::string& role) const;
  // Exact versions from `good` to `bad`, both included, whichever is the later one. In between are
  // all that this Python can install, except yanked ones, and pre-releases unless asked for.
  std::vector<std::string> versions(const std::string& package, const std::string& good,
                                    const std::string& bad) const;
  // Makes a virtual environment in `folder`. Empty, or why this version cannot be installed. Throws
  // Broken if no environment can be made.
  std::string install(const std::string& package, const std::string& version,
                      const std::filesystem::path& folder) const;

 private:
  struct Said {
    bool fine = false;
    std::string output, words;
  };
  Said ask(std::vector<std::string> arguments) const;
  std::vector<std::string> with_index(std::vector<std::string> arguments) const;
  Said best_of(const std::string& requirement, bool pre_releases) const;
  std::vector<std::string> between(const std::string& package, const std::string& above,
                                   const std::string& below) const;

  const UvOptions& options_;
  std::stop_token stop_;
};

}  // namespace nightjar::cli
