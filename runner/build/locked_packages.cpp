#include "runner/build/locked_packages.hpp"

#include "runner/process/failure.hpp"
#include "storage/base/guarded_child.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
using namespace std::chrono_literals;

void install_locked(const Installer& with, const fs::path& lock, const fs::path& to, bool byte_code,
                    std::stop_token stop) {
  fs::create_directories(to);
  std::vector<std::string> command{with.uv,
                                   "pip",
                                   "install",
                                   "--quiet",
                                   "--no-config",
                                   "--no-deps",
                                   "--require-hashes",
                                   "--only-binary",
                                   ":all:",
                                   "--no-progress",
                                   "--color",
                                   "never",
                                   "--python",
                                   with.python.string(),
                                   "--target",
                                   to.string(),
                                   "--requirements",
                                   lock.string()};
  if (byte_code) command.push_back("--compile-bytecode");
  std::string said;
  const auto hear = [&](std::string_view line) {
    if (said.size() < 2000) said += (said.empty() ? "" : " ") + std::string(line);
  };
  const ChildOutcome ended =
      run_guarded(command, network_environment(), {30min, 15min}, stop, hear);
  if (stop.stop_requested()) throw Stopped();
  if (ended.is_missing)
    throw TransientFailure("cannot install the packages of a build: there is no program '" +
                           with.uv + "'; install uv");
  if (!ended.stopped.empty())
    throw TransientFailure("cannot install the packages of a build: uv: " + ended.stopped);
  if (!ended.fine()) throw TransientFailure("cannot install the packages of a build: " + said);
}

}  // namespace nightjar::runner
