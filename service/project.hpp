// What is watched: a package with wheels, described by a TOML file of deploy/projects. Without one
// it is PyTorch. Used by proof, overlays and the source rung.
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
  // A file in the wheel with __version__, git_version and cuda; empty: there is none.
  std::string version_file = "torch/version.py";
  // Folders of the checkout that lie in the wheel under the same path, and whose Python files can
  // be laid over another commit's wheel.
  std::vector<std::string> overlay = {"torch/", "functorch/", "torchgen/"};
  // How builders make a wheel; empty: the source rung is off.
  std::filesystem::path recipe_file;
  std::string recipe;  // its text
  std::optional<Sha256> recipe_sha256;
  std::string repository;  // that builders clone; empty: the service's own
};

// Reads and checks a file. Paths are relative to it. Throws std::invalid_argument with a line for
// each error, which names file, line and key.
Project load_project(const std::filesystem::path& file);

}  // namespace nightjar::service
