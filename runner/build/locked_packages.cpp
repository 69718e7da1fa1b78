#include "runner/build/locked_packages.hpp"

#include "runner/build/unpack.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/files.hpp"
#include "storage/base/guarded_child.hpp"
#include "storage/model/lock_text.hpp"
#include "web/index_mirror.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
using namespace std::chrono_literals;
namespace {

LockText read_lock(const fs::path& file) {
  auto lock = parse_lock_text(read_file(file).value_or("no file"));
  if (!lock)
    throw BrokenArchive(
        "the lock of its packages has a line that is no package with a version and hashes, and no "
        "index");
  return *std::move(lock);
}

std::vector<Address> addresses_of(const LockText& lock) {
  return {lock.indexes.begin(), lock.indexes.end()};
}

web::Reach reach_of(const LockText& lock, const Installer& with) {
  std::vector<std::string> vouched = with.internal;
  vouched.insert(vouched.end(), lock.indexes.begin(), lock.indexes.end());
  return web::Reach(vouched);
}

// Returns the path by which uv finds it from another folder. Leaves a name without a folder, which
// is looked for in PATH.
std::string python_text(const fs::path& python) {
  return (python.has_parent_path() ? fs::absolute(python) : python).string();
}

std::vector<std::string> command_for(const Installer& with, const std::vector<std::string>& indexes,
                                     const fs::path& packages, const fs::path& to,
                                     const fs::path& folder) {
  std::vector<std::string> command{with.uv,
                                   "pip",
                                   "install",
                                   "--directory",
                                   folder.string(),
                                   "--cache-dir",
                                   with.cache.string(),
                                   "--quiet",
                                   "--no-config",
                                   "--no-python-downloads",
                                   "--keyring-provider",
                                   "disabled",
                                   "--no-deps",
                                   "--require-hashes",
                                   "--only-binary",
                                   ":all:",
                                   "--no-progress",
                                   "--color",
                                   "never",
                                   "--python",
                                   python_text(with.python),
                                   "--target",
                                   to.string(),
                                   "--requirements",
                                   packages.string()};
  if (indexes.empty()) command.emplace_back("--no-index");
  for (std::size_t i = 0; i < indexes.size(); ++i)
    command.insert(command.end(),
                   {i + 1 < indexes.size() ? "--index" : "--default-index", indexes[i]});
  return command;
}

}  // namespace

void install_locked(const Installer& with, const fs::path& lock, const fs::path& to,
                    std::stop_token stop) {
  const LockText content = read_lock(lock);
  const fs::path target = fs::absolute(to), folder = target.parent_path() / "uv";
  fs::create_directories(target);
  fs::create_directories(folder);
  fs::create_directories(with.cache);
  const fs::path packages = folder / "packages.txt";
  write_output(packages, packages_text(content));
  const web::IndexMirror mirror(addresses_of(content), reach_of(content, with));
  const auto command = command_for(with, mirror.urls(), packages, target, folder);
  auto environment = private_environment(folder.string());
  for (std::string& variable : mirror.environment()) environment.push_back(std::move(variable));
  const ChildOutcome ended = run_guarded(command, environment, {30min, 15min}, stop);
  if (stop.stop_requested()) throw Stopped();
  if (ended.fine()) return;
  const std::string missed = mirror.failure();
  throw TransientFailure("cannot install the packages of a build: " +
                         (missed.empty() ? mirror.as_outside(ended.failure(with.uv)) : missed) +
                         (ended.is_missing ? "; install uv" : ""));
}

void require_apart(const fs::path& packages, const fs::path& build) {
  for (const auto& entry : fs::recursive_directory_iterator(packages)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    const fs::path place = entry.path().lexically_relative(packages);
    const fs::path top = *place.begin();
    std::error_code none;
    if (fs::exists(fs::symlink_status(build / place, none)) ||
        (top != place && fs::exists(build / top / "__init__.py", none)) ||
        (top == place && fs::exists(build / top, none)))
      throw BrokenArchive("a package that it requires has " + place.string() +
                          ", which is a place of the build's own");
  }
}

}  // namespace nightjar::runner
