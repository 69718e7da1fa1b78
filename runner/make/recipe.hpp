// How a project's wheel is made from a checkout: a TOML file, described in docs/building.md. Used
// by builders and by `nightjar-runner build`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/hex.hpp"

namespace nightjar::runner {

struct Recipe {
  explicit Recipe(Sha256 of_text) : sha256(std::move(of_text)) {}

  std::string name;                   // of its work tree and its messages
  std::vector<std::string> commands;  // run in one shell, in the checkout
  std::string wheel;                  // pattern of the wheel's path below the checkout
  std::string module;                 // imported from the wheel to prove that it can be
  bool submodules = false;
  std::vector<std::string> keep;     // folders that stay between commits: the warm build folder
  std::vector<std::string> discard;  // patterns in kept folders that go before each build
  std::string image;                 // of a container; empty: the commands run here
  std::map<std::string, std::string> tools;        // what `NAME --version` must contain
  std::map<std::string, std::string> environment;  // as written, see environment_of()

  struct Limits {
    double minutes = 360;                 // of the commands, each attempt
    std::int64_t memory_bytes = 0;        // of all processes together; 0: none
    std::int64_t disk_bytes = 1LL << 30;  // less free space is no place to build
    std::int64_t log_bytes = 256LL << 20;
  } limits;
  struct Cache {
    std::string program = "auto";  // ccache, sccache, none; auto: the first that is there
    std::int64_t bytes = 20LL << 30;
  } cache;

  Sha256 sha256;  // of its text: another text is another recipe
};

// Throws WrongUse that names `where`, the line, and the key or value that is wrong.
Recipe parse_recipe(std::string_view text, const std::string& where);
Recipe read_recipe(const std::filesystem::path& file);

// The recipe's variables with {cores}, {jobs} (cores - 2, at least 1) and {python} replaced.
std::map<std::string, std::string> environment_of(const Recipe& recipe, unsigned cores,
                                                  const std::string& python);

// What is below `tree` and fits `pattern`, a relative path whose last part may have * and ?.
// Sorted. Nothing behind a symbolic link.
std::vector<std::filesystem::path> matching(const std::filesystem::path& tree,
                                            const std::string& pattern);

}  // namespace nightjar::runner
