#include "runner/build/locked_packages.hpp"

#include <algorithm>
#include <cctype>

#include "runner/build/unpack.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/files.hpp"
#include "storage/base/guarded_child.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
using namespace std::chrono_literals;
namespace {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

// "name==1.0", "name[extra]==1.0 ; marker". Neither a path, nor an address, nor an option.
bool is_pin(std::string_view line) {
  const auto name = std::ranges::find_if_not(line, is_of_name) - line.begin();
  if (name == 0 || !std::isalnum(static_cast<unsigned char>(line.front()))) return false;
  line.remove_prefix(static_cast<std::size_t>(name));
  if (line.starts_with("[")) line.remove_prefix(std::min(line.find(']'), line.size() - 1) + 1);
  return line.starts_with("==") && line.find('@') == line.npos && line.find("://") == line.npos;
}

bool belongs_to_lock(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.empty() || line.starts_with("#") || line.starts_with("--hash=sha256:") ||
         line.starts_with("--index-url ") || line.starts_with("--extra-index-url ") || is_pin(line);
}

}  // namespace

void require_pins(std::string_view lock) {
  while (!lock.empty()) {
    const auto end = std::min(lock.find_first_of("\r\n"), lock.size());
    const std::string_view line = lock.substr(0, end);
    if (!belongs_to_lock(line))
      throw BrokenArchive("the lock has a line that pins no package: '" +
                          std::string(line.substr(0, 80)) + "'");
    lock.remove_prefix(std::min(end + 1, lock.size()));
  }
}

void install_locked(const Installer& with, const fs::path& lock, const fs::path& to,
                    std::stop_token stop) {
  require_pins(read_file(lock).value_or(""));
  fs::create_directories(to);
  const std::vector<std::string> command{with.uv,
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
  const ChildOutcome ended = run_guarded(command, network_environment(), {30min, 15min}, stop);
  if (stop.stop_requested()) throw Stopped();
  if (!ended.fine())
    throw TransientFailure("cannot install the packages of a build: " + ended.failure(with.uv) +
                           (ended.is_missing ? "; install uv" : ""));
}

}  // namespace nightjar::runner
