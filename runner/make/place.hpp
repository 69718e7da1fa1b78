// Where the commands of a recipe run: on this machine, or in a container of the recipe's image.
// Used by make_wheel() and check_wheel().
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/make/recipe.hpp"
#include "runner/process/process.hpp"

namespace nightjar::runner {

// What a commit's build and the import of its wheel may do.
inline const Unconfined of_recipes("recipes fetch what they need from the network");

// What a command may see of this machine beside the image; on the machine itself it sees all.
struct PlaceFolders {
  std::filesystem::path work;  // the builder's own: checkout, cache, wrappers
  std::vector<std::filesystem::path> read_only;
};

// Makes `spec.command` run in the recipe's container, with the environment and folder of `spec`.
// Without an image nothing changes. Throws TransientFailure if neither podman nor docker is here.
// Returns the command that ends the container, which a killed client leaves running; empty: none.
std::vector<std::string> put_in_place(const Recipe& recipe, const PlaceFolders& folders,
                                      ProcessSpec& spec);

}  // namespace nightjar::runner
