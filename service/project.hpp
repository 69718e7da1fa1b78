// What is watched: a package with wheels, described by a TOML file of deploy/projects. Without one
// it is PyTorch. Used wherever builds are found, proved, laid over and measured.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/hex.hpp"

namespace nightjar::service {

struct Project {
  std::string name = "pytorch";
  std::string package = "torch";  // as METADATA names it
  std::string module = "torch";   // as workloads import it
  // A file in the wheel with __version__, git_version and cuda. Empty if there is none, as is the
  // default for other packages.
  std::string version_file = "torch/version.py";
  // Folders of the checkout that lie in the wheel under the same path, and whose Python files can
  // be laid over another commit's wheel. PyTorch's cannot be changed: path_effect.cpp knows more of
  // them. The default for other packages is the module's folder.
  std::vector<std::string> overlay = {"torch/", "functorch/", "torchgen/"};
  // How builders make a wheel; empty: the source rung is off.
  std::filesystem::path recipe_file;
  std::string recipe;  // its text
  std::optional<Sha256> recipe_sha256;
  std::string repository;  // that builders clone; empty: the service's own
  // Files of the checkout that pin versions of other packages, as globs.
  std::vector<std::string> pins = {".ci/docker/ci_commit_pins/*", ".ci/docker/*_version.txt",
                                   "requirements*.txt", "**/requirements*.txt", "pyproject.toml"};

  // A wheel of PyTorch is an environment by itself. A wheel of another package comes before the
  // runner's own PyTorch on the path.
  bool is_pytorch() const { return package == "torch"; }
};

// By PEP 503, as indexes name it: "torch_scatter" is "torch-scatter".
std::string normalized_name(std::string package);

// Reads and checks a file. Paths are relative to it. Throws std::invalid_argument with a line for
// each error, which names file, line and key.
Project load_project(const std::filesystem::path& file);

}  // namespace nightjar::service
