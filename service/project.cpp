#include "service/project.hpp"

#include <algorithm>

#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/pattern.hpp"
#include "storage/base/toml.hpp"
#include "storage/model/address.hpp"

namespace nightjar::service {
namespace {

bool is_package(const std::string& text) {
  static const Pattern pattern("[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?");
  return pattern.match(text).has_value();
}

// "torch/version.py", "torch/": below the folder that it is relative to.
bool is_below(const std::string& text) {
  const std::filesystem::path path(text);
  return !text.empty() && path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

bool is_module(const std::string& text) {
  static const Pattern pattern("[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*");
  return pattern.match(text).has_value();
}

std::string usual_module(std::string package) {
  std::replace(package.begin(), package.end(), '-', '_');
  return package;
}

std::string folder_of(std::string module) {
  std::replace(module.begin(), module.end(), '.', '/');
  return module + "/";
}

// What the file does not say follows from the package.
void read_package(TomlTable& section, Project& project) {
  section.read("package", project.package);
  if (!is_package(project.package)) section.fail("package", "must be the name of a package");
  project.module = usual_module(project.package);
  section.read("module", project.module);
  if (!is_module(project.module))
    section.fail("module", "must be the name of a module, as workloads import it");
  if (project.is_pytorch()) return;
  project.version_file.clear();
  project.overlay = {folder_of(project.module)};
}

void read_overlay(TomlTable& section, Project& project) {
  section.read("overlay", project.overlay);
  for (const auto& folder : project.overlay)
    if (!is_below(folder) || !folder.ends_with('/'))
      section.fail("overlay",
                   in_quotes(folder) + " must be a folder of the checkout that ends with /");
  if (project.is_pytorch() && project.overlay != Project{}.overlay)
    section.fail("overlay", "cannot be changed for torch, whose paths are built in; leave it out");
}

void read_recipe(TomlTable& section, Project& project) {
  section.read("recipe", project.recipe_file);
  if (project.recipe_file.empty()) return;
  const auto text = read_file(project.recipe_file);
  if (!text || text->empty())
    return section.fail("recipe", "cannot read " + in_quotes(project.recipe_file.string()));
  project.recipe = *text;
  project.recipe_sha256 = digest_of(*text);
}

}  // namespace

std::string normalized_name(std::string package) {
  for (char& c : package) {
    if (c == '_' || c == '.') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return package;
}

Project load_project(const std::filesystem::path& file) {
  TomlFile toml(file);
  TomlTable section = toml.table("project");
  Project project;
  section.read("name", project.name);
  read_package(section, project);
  section.read("version_file", project.version_file);
  read_overlay(section, project);
  section.read("repository", project.repository);
  if (tells_secret(project.repository))
    section.fail("repository", "has a password or a token, which builders and readers would see");
  section.read("pins", project.pins);
  if (!is_package(project.name)) section.fail("name", "must be a name");
  if (!project.version_file.empty() && !is_below(project.version_file))
    section.fail("version_file", "must be a path in the wheel");
  read_recipe(section, project);
  section.done();
  toml.finish();
  return project;
}

}  // namespace nightjar::service
