#include "service/builds/lock.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/guarded_child.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t kMostVersions = 64;
// uv's words. Its exit status is 1 also for an index that answers with something else than a page.
constexpr const char* kNoSolution = "No solution found";
constexpr const char* kRefused = "hint: An index";

// "cp311" -> "3.11"; nullopt for anything else.
std::optional<std::string> python_version(const BuildNeeds& needs) {
  const std::string tag = needs.python_tag.value_or("");
  if (!tag.starts_with("cp3") || tag.size() < 4) return std::nullopt;
  return "3." + tag.substr(3);
}

// uv's names: the oldest C library that serves is taken, as pip takes the machine's.
std::string platform(const BuildNeeds& needs) {
  const std::string tag = needs.platform_tag.value_or("linux_x86_64");
  const std::string machine = tag.ends_with("aarch64") ? "aarch64" : "x86_64";
  return machine + (tag.starts_with("manylinux_2_28") ? "-manylinux_2_28" : "-unknown-linux-gnu");
}

// Whether a package's own requirements are resolved, too.
enum class Dependencies { resolved, left_out };

std::vector<std::string> command_for(const BuildNeeds& needs, const Config::Environment& config,
                                     const std::string& file, Dependencies dependencies) {
  std::vector<std::string> command{config.uv,
                                   "pip",
                                   "compile",
                                   file,
                                   "--quiet",
                                   "--no-config",
                                   "--no-header",
                                   "--no-annotate",
                                   "--no-progress",
                                   "--color",
                                   "never",
                                   "--generate-hashes",
                                   "--only-binary",
                                   ":all:",
                                   "--emit-index-url",
                                   "--python-platform",
                                   platform(needs)};
  if (const auto python = python_version(needs))
    command.insert(command.end(), {"--python-version", *python});
  if (dependencies == Dependencies::left_out) command.emplace_back("--no-deps");
  for (std::size_t i = 0; i < config.indexes.size(); ++i)
    command.insert(command.end(), {i + 1 < config.indexes.size() ? "--index" : "--default-index",
                                   config.indexes[i]});
  return command;
}

// A file that is gone when this is.
class Scratch {
 public:
  explicit Scratch(const std::string& text) {
    char name[] = "/tmp/nightjar-requirements-XXXXXX";
    const int file = ::mkstemp(name);
    if (file < 0) throw std::runtime_error("cannot write a file of requirements below /tmp");
    ::close(file);
    path_ = name;
    write_output(path_, text);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Of the first line of a package in a requirements file.
LockedPackage package_in(const std::string& line) {
  LockedPackage package{line.substr(0, line.find_first_of(" =@;\\")), ""};
  if (const auto equals = line.find("=="); equals != std::string::npos) {
    const std::string version = line.substr(equals + 2);
    package.version = version.substr(0, version.find_first_of(" ;\\"));
  }
  return package;
}

Lock resolve_with(const std::vector<std::string>& requirements, const BuildNeeds& needs,
                  const Config::Environment& config, Dependencies dependencies) {
  std::string wanted;
  for (const std::string& requirement : requirements) wanted += requirement + "\n";
  const Scratch file(wanted);
  const ChildLimits limits{config.timeout, config.timeout};
  // What an index that answers 401 or 403 would have listed is not known.
  bool is_refused = false;
  const ChildOutcome ended = run_guarded(
      command_for(needs, config, file.path(), dependencies), network_environment(), limits, {},
      [&](std::string_view line) { is_refused |= line.find(kRefused) != line.npos; });
  const bool no_solution = ended.stopped.empty() && WIFEXITED(ended.status) &&
                           WEXITSTATUS(ended.status) == 1 && !is_refused &&
                           ended.said.find(kNoSolution) != ended.said.npos;
  if (no_solution) throw Unresolvable("its packages cannot be installed: " + ended.said);
  if (!ended.fine())
    throw std::runtime_error(
        "cannot resolve the packages of a wheel: " + ended.failure(config.uv) +
        (ended.is_missing ? "; install uv, or name it in [environment] uv" : ""));
  return lock_of(ended.output);
}

// A bound may not have a local part ("3.5.1+git0123456").
std::string without_local(const std::string& version) {
  return version.substr(0, version.find('+'));
}

// From the highest to the lowest.
std::vector<std::string> versions_below(const std::string& name, const std::string& above,
                                        std::string below, const BuildNeeds& needs,
                                        const Config::Environment& config) {
  std::vector<std::string> versions;
  try {
    while (versions.size() < kMostVersions) {
      const std::string range = name + ">" + without_local(above) + ",<" + without_local(below);
      const Lock found = resolve_with({range}, needs, config, Dependencies::left_out);
      if (found.packages.empty() || found.packages.front().version == below) break;
      below = found.packages.front().version;
      versions.push_back(below);
    }
  } catch (const Unresolvable&) {  // there is no further one
  }
  return versions;
}

}  // namespace

Lock resolve(const std::vector<std::string>& requirements, const BuildNeeds& needs,
             const Config::Environment& config) {
  return resolve_with(requirements, needs, config, Dependencies::resolved);
}

std::vector<std::string> versions_between(const std::string& name, const std::string& good,
                                          const std::string& bad, const BuildNeeds& needs,
                                          const Config::Environment& config) {
  if (good.empty() || bad.empty()) return {};
  auto upwards = versions_below(name, good, bad, needs, config);
  std::reverse(upwards.begin(), upwards.end());
  return upwards.empty() ? versions_below(name, bad, good, needs, config) : upwards;
}

Lock lock_of(std::string text) {
  Lock lock{digest_of(text), std::move(text), {}};
  std::istringstream lines(lock.text);
  for (std::string line; std::getline(lines, line);)  // others are options, hashes and comments
    if (!line.empty() && line.front() != '-' && line.front() != ' ' && line.front() != '#')
      lock.packages.push_back(package_in(line));
  return lock;
}

std::vector<PackageChange> changes_between(const Lock& before, const Lock& after) {
  std::map<std::string, PackageChange> all;
  for (const LockedPackage& one : before.packages) all[one.name].before = one.version;
  for (const LockedPackage& one : after.packages) all[one.name].after = one.version;
  std::vector<PackageChange> changes;
  for (auto& [name, change] : all) {
    change.name = name;
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace nightjar::service
