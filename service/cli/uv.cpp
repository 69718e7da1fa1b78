#include "service/cli/uv.hpp"

#include <algorithm>

#include "runner/process/failure.hpp"
#include "service/cli/bench.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/shell.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/guarded_child.hpp"
#include "storage/model/lock_text.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::hours longest_install{2};
constexpr std::size_t most_versions = 1000;
constexpr std::size_t most_said = 400;  // characters that are repeated of uv's
constexpr const char* no_solution = "No solution found";

// "numpy==2.2.0" -> "2.2.0"; empty for anything else.
std::string pinned_version(const std::string& output) {
  const auto at = output.find("==");
  if (at == std::string::npos) return "";
  const auto end = output.find_first_of(" ;\\\r\n", at);
  std::string version = output.substr(at + 2, end == std::string::npos ? end : end - at - 2);
  return is_package_version(version) ? version : "";
}

// A bound may not have a local part ("2.3+cpu").
std::string as_bound(const std::string& version) {
  return version.substr(0, version.find('+'));
}

}  // namespace

Uv::Uv(const UvOptions& options, std::stop_token stop)
    : options_(options), stop_(std::move(stop)) {}

Uv::Said Uv::ask(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), options_.program);
  arguments.insert(arguments.end(), {"--no-progress", "--color", "never"});
  std::vector<std::string> environment;
  for (const auto& [name, value] : own_environment()) environment.push_back(name + "=" + value);
  const ChildOutcome ended =
      run_guarded(arguments, environment, {longest_install, longest_install}, stop_);
  if (stop_.stop_requested()) throw runner::Stopped();
  if (ended.is_missing)
    throw Broken("cannot search versions: there is no program " + options_.program +
                 "; install uv, or name it by --uv");
  return {ended.fine(), ended.output, "uv said: " + shortened(ended.failure("uv"), most_said)};
}

std::vector<std::string> Uv::with_index(std::vector<std::string> arguments) const {
  if (fs::is_directory(options_.index))
    arguments.insert(arguments.end(),
                     {"--no-index", "--find-links", fs::absolute(options_.index).string()});
  else if (!options_.index.empty())
    arguments.insert(arguments.end(), {"--default-index", options_.index});
  return arguments;
}

// The newest version that fits the requirement, without what that requires.
Uv::Said Uv::best_of(const std::string& requirement, bool pre_releases) const {
  const TemporaryFolder folder("what uv is asked");
  const fs::path file = folder / "requirements.txt";
  write_output(file, requirement + "\n");
  std::vector<std::string> arguments{
      "pip",           "compile",      file.string(),
      "--quiet",       "--no-deps",    "--no-header",
      "--no-annotate", "--prerelease", pre_releases ? "allow" : "disallow"};
  if (!options_.python.empty()) arguments.insert(arguments.end(), {"--python", options_.python});
  return ask(with_index(std::move(arguments)));
}

std::string Uv::exact_version(const std::string& package, const std::string& version,
                              const std::string& role) const {
  const std::string attempt = "cannot find the " + role + ", " + package + " " + version + ": ";
  if (!is_package_name(package) || !is_package_version(version))
    throw BadInput(attempt + "that is no name and version of a package");
  const Said said = best_of(package + "==" + version, true);
  std::string exact = pinned_version(said.output);
  if (said.fine && !exact.empty()) return exact;
  if (said.words.find(no_solution) != std::string::npos) throw BadInput(attempt + said.words);
  throw Broken(attempt + said.words);
}

// Downwards from `below`, both left out.
std::vector<std::string> Uv::between(const std::string& package, const std::string& above,
                                     const std::string& below) const {
  std::vector<std::string> found;
  // A bare > would leave out later builds of the same release, such as 2.2.post1, and a bare < its
  // pre-releases.
  const auto but = [](const std::string& version) { return version + ",!=" + version; };
  const std::string from = package + ">=" + but(as_bound(above)) + ",<=";
  std::string bound = as_bound(below);
  while (found.size() < most_versions) {
    const Said said = best_of(from + but(bound), options_.pre_releases);
    const std::string next = pinned_version(said.output);
    if (!said.fine && said.words.find(no_solution) == std::string::npos)
      throw Broken("cannot list the versions of " + package + ": " + said.words);
    if (!said.fine || next.empty() || as_bound(next) == bound) return found;
    found.push_back(next);
    bound = as_bound(next);
  }
  throw BadInput("cannot search " + package + " from " + above + " to " + below + ": over " +
                 std::to_string(most_versions) + " versions; choose closer ends");
}

std::vector<std::string> Uv::versions(const std::string& package, const std::string& good,
                                      const std::string& bad) const {
  if (good == bad) throw BadInput("cannot search " + package + ": both ends are version " + good);
  auto list = between(package, good, bad);
  std::reverse(list.begin(), list.end());
  if (list.empty()) list = between(package, bad, good);  // the bad end is the older one
  list.insert(list.begin(), good);
  list.push_back(bad);
  return list;
}

std::string Uv::install(const std::string& package, const std::string& version,
                        const fs::path& folder) const {
  std::vector<std::string> make{"venv", "--quiet", "--no-project", folder.string()};
  if (!options_.python.empty()) make.insert(make.end(), {"--python", options_.python});
  if (const Said made = ask(std::move(make)); !made.fine)
    throw Broken("cannot make an environment: " + made.words);
  std::vector<std::string> fill{"pip",
                                "install",
                                "--quiet",
                                "--python",
                                (folder / "bin/python").string(),
                                package + "==" + version};
  fill.insert(fill.end(), options_.with.begin(), options_.with.end());
  const Said filled = ask(with_index(std::move(fill)));
  return filled.fine ? "" : "it cannot be installed; " + filled.words;
}

}  // namespace nightjar::cli
