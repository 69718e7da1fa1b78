#include "runner/make/place.hpp"

#include <atomic>
#include <unistd.h>

#include "runner/process/failure.hpp"
#include "storage/base/child.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

fs::path container_engine() {
  for (const char* name : {"podman", "docker"}) {
    const fs::path path = find_program(name);
    if (path.is_absolute() && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

std::string container_name() {
  static std::atomic<unsigned> number{0};
  return "nightjar-build-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
}

}  // namespace

std::vector<std::string> put_in_place(const Recipe& recipe, const PlaceFolders& folders,
                                      ProcessSpec& spec) {
  if (recipe.image.empty()) return {};
  const fs::path engine = container_engine();
  if (engine.empty())
    throw TransientFailure("the recipe wants the container image " + recipe.image +
                           ", and neither podman nor docker is on this machine's PATH");
  const std::string name = container_name(), work = folders.work.string();
  std::vector<std::string> command{
      engine.string(), "run",
      "--rm",          "--init",
      "--name",        name,
      "--user",        std::to_string(::getuid()) + ":" + std::to_string(::getgid()),
      "--volume",      work + ":" + work,
      "--workdir",     spec.folder.string()};
  if (engine.filename() == "podman") command.insert(command.end(), {"--userns", "keep-id"});
  for (const auto& folder : folders.read_only)
    command.insert(command.end(), {"--volume", folder.string() + ":" + folder.string() + ":ro"});
  if (spec.memory_bytes > 0)
    command.insert(command.end(), {"--memory", std::to_string(spec.memory_bytes)});
  for (const auto& [variable, value] : spec.environment)  // the image has a PATH of its own
    if (variable != "PATH")
      command.insert(command.end(), {"--env", std::string(variable) + "=" + value});
  command.push_back(recipe.image);
  command.insert(command.end(), spec.command.begin(), spec.command.end());
  spec.command = std::move(command);
  return {engine.string(), "rm", "--force", name};
}

}  // namespace nightjar::runner
