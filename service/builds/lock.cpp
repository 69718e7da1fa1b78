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

std::vector<std::string> command_for(const BuildNeeds& needs, const Config::Environment& config,
                                     const std::string& file) {
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

}  // namespace

Lock resolve(const std::vector<std::string>& requirements, const BuildNeeds& needs,
             const Config::Environment& config) {
  std::string wanted;
  for (const std::string& requirement : requirements) wanted += requirement + "\n";
  const Scratch file(wanted);
  const ChildLimits limits{config.timeout, config.timeout};
  const ChildOutcome ended =
      run_guarded(command_for(needs, config, file.path()), network_environment(), limits, {});
  const bool no_solution =
      ended.stopped.empty() && WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 1;
  if (no_solution) throw Unresolvable("its packages cannot be installed: " + ended.said);
  if (!ended.fine())
    throw std::runtime_error(
        "cannot resolve the packages of a wheel: " + ended.failure(config.uv) +
        (ended.is_missing ? "; install uv, or name it in [environment] uv" : ""));
  return lock_of(ended.output);
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
