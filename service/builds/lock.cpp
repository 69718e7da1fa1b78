#include "service/builds/lock.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/wait.h>

#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/guarded_child.hpp"
#include "web/index_mirror.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t most_versions = 64;
// uv's words. Its exit status is 1 also for an index that answers with something else than a page.
constexpr const char* no_solution_text = "No solution found";
constexpr const char* url_dependency = "was included as a URL dependency";
constexpr const char* requirements_file = "requirements.txt";  // also told in what uv says

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

// A folder that only this user can read. Its destructor removes it.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string name = std::filesystem::temp_directory_path() / "nightjar-uv-XXXXXX";
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make the folder " + name);
    path_ = name;
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

web::Reach reach_of(const Config::Environment& config) {
  std::vector<std::string> vouched = config.internal;
  for (const Address& index : config.indexes) vouched.push_back(index.text());
  return web::Reach(vouched);
}

// Whether a package's own requirements are resolved, too.
enum class Dependencies { resolved, left_out };

// `folder` is uv's own, and has the requirements.
std::vector<std::string> command_for(const BuildNeeds& needs, const Config::Environment& config,
                                     const std::vector<std::string>& indexes,
                                     const std::string& folder, Dependencies dependencies) {
  std::vector<std::string> command{config.uv,
                                   "pip",
                                   "compile",
                                   requirements_file,
                                   "--directory",
                                   folder,
                                   "--cache-dir",
                                   folder + "/cache",
                                   "--quiet",
                                   "--no-config",
                                   "--no-python-downloads",
                                   "--keyring-provider",
                                   "disabled",
                                   "--no-header",
                                   "--no-annotate",
                                   "--no-progress",
                                   "--color",
                                   "never",
                                   "--generate-hashes",
                                   "--only-binary",
                                   ":all:",
                                   "--python-platform",
                                   platform(needs)};
  if (const auto python = python_version(needs))
    command.insert(command.end(), {"--python-version", *python});
  if (dependencies == Dependencies::left_out) command.emplace_back("--no-deps");
  for (std::size_t i = 0; i < indexes.size(); ++i)
    command.insert(command.end(),
                   {i + 1 < indexes.size() ? "--index" : "--default-index", indexes[i]});
  return command;
}

std::vector<std::string> environment_for(const web::IndexMirror& mirror,
                                         const std::string& folder) {
  auto environment = private_environment(folder);
  for (std::string& variable : mirror.environment()) environment.push_back(std::move(variable));
  return environment;
}

Lock resolve_with(const std::vector<Requirement>& requirements, const BuildNeeds& needs,
                  const Config::Environment& config, Dependencies dependencies,
                  const std::stop_token& stop) {
  std::string wanted;
  for (const Requirement& requirement : requirements) wanted += requirement.text() + "\n";
  const PrivateFolder folder;
  write_output(folder.path() / requirements_file, wanted);
  const web::IndexMirror mirror(config.indexes, reach_of(config));
  const ChildLimits limits{config.timeout, config.timeout};
  const ChildOutcome ended =
      run_guarded(command_for(needs, config, mirror.urls(), folder.path().string(), dependencies),
                  environment_for(mirror, folder.path().string()), limits, stop);
  // What an index that does not answer, or answers 401 or 403, would have listed is not known.
  const std::string missed = mirror.failure(), said = mirror.as_outside(ended.said);
  const bool no_solution =
      ended.stopped.empty() && WIFEXITED(ended.status) && WEXITSTATUS(ended.status) > 0 &&
      missed.empty() &&
      (said.find(no_solution_text) != said.npos || said.find(url_dependency) != said.npos);
  if (no_solution) throw Unresolvable("its packages cannot be installed: " + said);
  if (!ended.fine())
    throw std::runtime_error(
        "cannot resolve the packages of a wheel: " +
        (missed.empty() ? mirror.as_outside(ended.failure(config.uv)) : missed) +
        (ended.is_missing ? "; install uv, or name it in [environment] uv" : ""));
  auto locked = parse_lock_text(ended.output);
  if (!locked)
    throw std::runtime_error("cannot resolve the packages of a wheel: " + config.uv +
                             " wrote what is no list of packages with versions and hashes");
  for (const Address& index : config.indexes) locked->indexes.push_back(index.text());
  return lock_of(*locked);
}

// A bound may not have a local part ("3.5.1+git0123456").
std::string without_local(const std::string& version) {
  return version.substr(0, version.find('+'));
}

// From the highest to the lowest.
std::vector<std::string> versions_below(const std::string& name, const std::string& above,
                                        std::string below, const BuildNeeds& needs,
                                        const Config::Environment& config,
                                        const std::stop_token& stop) {
  std::vector<std::string> versions;
  try {
    while (versions.size() < most_versions) {
      const std::string range = name + ">" + without_local(above) + ",<" + without_local(below);
      const auto wanted = is_package_name(name) ? Requirement::parse(range) : std::nullopt;
      if (!wanted) throw Unresolvable(unreadable_requirement(range));
      const Lock found = resolve_with({*wanted}, needs, config, Dependencies::left_out, stop);
      if (found.packages.empty() || found.packages.front().version == below) break;
      below = found.packages.front().version;
      versions.push_back(below);
    }
  } catch (const Unresolvable&) {  // there is no further one
  }
  return versions;
}

}  // namespace

Lock resolve(const std::vector<Requirement>& requirements, const BuildNeeds& needs,
             const Config::Environment& config, std::stop_token stop) {
  return resolve_with(requirements, needs, config, Dependencies::resolved, stop);
}

std::vector<std::string> versions_between(const std::string& name, const std::string& good,
                                          const std::string& bad, const BuildNeeds& needs,
                                          const Config::Environment& config, std::stop_token stop) {
  if (good.empty() || bad.empty()) return {};
  auto upwards = versions_below(name, good, bad, needs, config, stop);
  std::reverse(upwards.begin(), upwards.end());
  return upwards.empty() ? versions_below(name, bad, good, needs, config, stop) : upwards;
}

Lock lock_of(const LockText& content) {
  std::string text = text_of(content);
  Lock lock{digest_of(text), std::move(text), {}};
  for (const PinnedPackage& pinned : content.packages) lock.packages.push_back(pinned.package);
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
