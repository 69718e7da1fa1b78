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
  const ChildOutcome ended = run_guarded(command, network_environment(), {30min, 15min}, stop);
  if (stop.stop_requested()) throw Stopped();
  if (!ended.fine())
    throw TransientFailure("cannot install the packages of a build: " + ended.failure(with.uv) +
                           (ended.is_missing ? "; install uv" : ""));
}

}  // namespace nightjar::runner
